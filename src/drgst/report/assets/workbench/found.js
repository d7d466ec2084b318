// What was found: counts per class, the top of the list, how sure it is, and what to do next.
import { breakable, button, el, table } from '../lib/elements.js';
import { capitalised, integer, isKnown, percent } from '../lib/format.js';
import { classColour } from './colouring.js';
import { className, labelName, predicted, probabilityOf, run } from './data.js';
import { nodeLink, shareBar } from './node_text.js';
import { change, maskOf, setFilter, state } from './state.js';

const TOP = 8;

export const noModel = () =>
  el(
    'div',
    { class: 'panel' },
    el('h2', null, 'Nothing is predicted yet'),
    el('p', null, 'Label nodes of two classes, and a model is fitted to them at once.'),
    el('p', null, button('Start labelling', () => change({ view: 'label' }))),
  );

export function foundPanel() {
  if (!run.hasModel) return [noModel()];
  const { found } = run;
  return [
    el('h2', null, 'What was found'),
    el('p', null, `${integer(found.nodes)} nodes without a given label were predicted.`),
    found.classes.map(classLine),
    expectedText(),
    topList(),
    el('h3', null, 'How sure'),
    sureText().map((text) => el('p', null, text)),
    el('h3', null, 'What next'),
    nextSteps(),
  ];
}

function classLine(row, index) {
  const chosen = `predicted ${className(index)}`, pressed = state.filterName === chosen;
  const onclick = () =>
    pressed ? setFilter(null) : setFilter(maskOf((node) => predicted(state.stage, node) === index), chosen);
  const range = `about ${integer(Math.round(row.low))} to ${integer(Math.round(row.high))} by the probabilities`;
  return el(
    'button',
    { type: 'button', class: 'class-line', 'aria-pressed': String(pressed), onclick, title: range },
    el('span', { class: 'name' }, breakable(className(index))),
    shareBar(run.found.nodes ? row.predicted / run.found.nodes : 0, classColour(index)),
    el('span', { class: 'figure' }, integer(row.predicted)),
  );
}

// The sum of the probabilities of the rarest class, where it tells another number than the predictions.
function expectedText() {
  const { focus, classes } = run.found, { low, high, predicted: count } = classes[focus];
  if (!run.found.nodes || (count >= low && count <= high)) return null;
  const range = `${integer(Math.round(low))} to ${integer(Math.round(high))}`;
  return el('p', null, `If the probabilities are right, ${range} nodes are ${className(focus)}: some are below 50%.`);
}

function topList() {
  const { focus } = run.found;
  const nodes = Array.from({ length: run.nodeCount }, (_, node) => node)
    .filter((node) => labelName(node) === null && run.given[node] < 0);
  const best = nodes.map((node) => [probabilityOf(state.stage, node, focus), node])
    .toSorted((first, second) => second[0] - first[0]).slice(0, TOP);
  if (!best.length) return [];
  const columns = [
    { title: 'node', kind: 'name', cell: ([, node]) => nodeLink(node) },
    { title: `p(${className(focus)})`, kind: 'number', cell: ([p]) => percent(p) },
  ];
  return [
    el('h3', null, `Likeliest ${className(focus)}`),
    el('div', { class: 'scroll', id: 'top-list' }, table(columns, best, `Likeliest ${className(focus)}`)),
    button('All of them, with a threshold', () => change({ view: 'decide' }), { class: 'link' }),
  ];
}

function sureText() {
  const { found } = run, measured = run.cards.find(([title]) => title.startsWith('Accuracy on'));
  const mean = isKnown(found.confidence)
    ? `The mean probability of the predicted classes is ${percent(found.confidence)}; ` +
      `${integer(found.unsure)} nodes are below 80%.`
    : null;
  const known = measured ? `${measured[0]}: ${measured[1]} (${measured[2]}).` : null;
  const folds = found.out_of_fold ? `${capitalised(found.out_of_fold)}.` : null;
  const nothing = known || folds ? null : 'No label was held out, so the accuracy is not known.';
  return [known, folds, mean, nothing, found.warning ? `Note: ${found.warning}.` : null].filter(Boolean);
}

function nextSteps() {
  const contradicted = run.review?.contradicted ?? 0;
  const steps = [
    [`Decide which nodes to act on`, 'decide', true],
    [
      `Review ${
        contradicted === 1 ? '1 given label that looks' : `${integer(contradicted)} given labels that look`
      } wrong`,
      'review',
      contradicted,
    ],
    ['Label the nodes that help most', 'label', run.live],
    [
      `See ${integer(run.suggestions.rows.length)} nodes to label next`,
      'run',
      !run.live && run.suggestions.rows.length,
    ],
  ].filter(([, , show]) => show);
  return el(
    'ul',
    null,
    steps.map(([text, view]) => el('li', null, button(text, () => change({ view }), { class: 'link' }))),
  );
}
