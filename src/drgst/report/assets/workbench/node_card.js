// The parts of a node's card: class probabilities, own columns, reasons, stages and neighbours.
import { breakable, button, el, emptyText, hint, table } from '../lib/elements.js';
import { decimal, integer, percent } from '../lib/format.js';
import {
  className,
  classProbabilities,
  confidence,
  informationGain,
  labelName,
  neighboursOf,
  predicted,
  run,
  TRAINING,
} from './data.js';
import { meaning } from './glossary.js';
import { ask } from './live.js';
import { knownText, markedClass, nodeLink, shareBar } from './node_text.js';
import { change, state } from './state.js';

const SHOWN_NEIGHBOURS = 40;

export function nodeTags(node) {
  const entered = run.enteredStage[node];
  return [
    knownText(node),
    `${integer(run.degree[node])} ${run.degree[node] === 1 ? 'neighbour' : 'neighbours'}`,
    entered > 0 ? ['pseudo-labelled from stage ' + entered, meaning('pseudo-label')] : null,
    run.suggestedNodes.has(node) ? 'suggested for labelling' : null,
  ].filter(Boolean).map((tag) => {
    const [text, title] = [tag].flat();
    return el('span', { class: 'tag', title }, text);
  });
}

export function probabilityLines(node, count = run.listedClasses) {
  if (!run.hasModel) return [emptyText('There is no model yet.')];
  const shown = classProbabilities(state.stage, node, count);
  const lines = shown.map(([index, share]) => ({ name: className(index), share }));
  const rest = 1 - lines.reduce((sum, { share }) => sum + share, 0);
  if (shown.length < run.classCount) {
    lines.push({ name: `${run.classCount - shown.length} others`, share: Math.max(0, rest) });
  }
  return lines.map(({ name, share }) =>
    el(
      'div',
      { class: 'share' },
      el('span', { class: 'name' }, breakable(name)),
      shareBar(share),
      el('span', { class: 'figure' }, percent(share)),
    )
  );
}

export function columnTable(node) {
  const filled = run.columns.filter((column) => column.text(node) !== '');
  if (!filled.length) return [];
  const columns = [
    { title: '', cell: (column) => breakable(column.name) },
    { title: '', kind: 'name', cell: (column) => column.text(node) },
  ];
  return [
    el('h3', null, 'Its columns'),
    el('div', { class: 'scroll own', tabindex: 0 }, table(columns, filled, 'Its columns')),
  ];
}

// Asks the server for the reasons of a prediction; say(text) is told how that goes, "" in the end.
export async function findReasons(node, say) {
  if (node < 0 || run.reasons[node]) return;
  say('Finding the reasons …');
  try {
    run.reasons[node] = await ask(`why/${node}`);
    say('');
  } catch (error) {
    say(error.message);
  }
}

// What the prediction becomes without each feature, neighbour, view or labelled node.
export function reasonTable(node) {
  const found = run.reasons[node];
  if (!found) return [];
  const columns = [
    {
      title: 'without',
      kind: 'name',
      cell: (row) => [breakable(row.name), el('div', { class: 'remark' }, row.detail)],
    },
    { title: 'kind', cell: (row) => row.kind },
    { title: `p(${found.label})`, kind: 'number', cell: (row) => percent(row.probability) },
  ];
  return [
    el('h3', null, `Why ${found.label}, ${percent(found.probability)}`),
    el(
      'div',
      { class: 'scroll', id: 'node-reasons', tabindex: 0 },
      table(columns, found.rows, 'The prediction without each reason'),
    ),
  ];
}

export function stageTable(node) {
  if (run.shownStages.length < 2) return [];
  const places = run.shownStages.map((_, place) => place);
  const link = (place) => button(run.shownStages[place].name, () => change({ stage: place }), { class: 'link' });
  const columns = [
    { title: 'stage', cell: link },
    { title: 'predicted', kind: 'name', cell: (place) => predictionCell(place, node) },
    { title: 'p', kind: 'number', cell: (place) => percent(confidence(place, node), 0) },
    { title: 'gain', kind: 'number', cell: (place) => decimal(informationGain(place, node), 2), show: run.hasGain },
    { title: 'weight', kind: 'number', cell: (place) => weightText(place, node), show: run.hasPseudoLabels },
  ];
  const shown = table(columns, places, 'The node, stage by stage', (place) => place === state.stage);
  return [el('h3', null, 'Stage by stage'), el('div', { class: 'scroll', id: 'node-stages' }, shown)];
}

// The predicted class, and the pseudo-label where it is another.
function predictionCell(place, node) {
  const label = run.pseudoLabels[place].labels[node], prediction = predicted(place, node), truth = run.truth[node];
  const other = label >= 0 && label !== prediction;
  return [
    markedClass(prediction, truth),
    other ? el('div', { class: 'remark' }, 'pseudo-label ', markedClass(label, truth)) : null,
  ];
}

// The weight of the node in the training of a stage.
function weightText(place, node) {
  if (run.role[node] === TRAINING) return 'label';
  return decimal(run.pseudoLabels[place].weights[node], 2);
}

export function neighbourList(node, most = SHOWN_NEIGHBOURS) {
  const title = el('h3', null, 'Its neighbours');
  const neighbours = Array.from(neighboursOf(node)), { stage } = state;
  if (!neighbours.length) {
    const count = run.degree[node];
    return [
      title,
      emptyText(count ? `None of its ${integer(count)} neighbours is on the page.` : 'It has no neighbour.'),
    ];
  }
  const same = neighbours.filter((other) => predicted(stage, other) === predicted(stage, node)).length;
  const columns = [
    { title: 'neighbour', kind: 'name', cell: nodeLink },
    {
      title: 'predicted',
      kind: 'name',
      cell: (other) => markedClass(predicted(stage, other), run.truth[other]),
      show: run.hasModel,
    },
    { title: 'p', kind: 'number', cell: (other) => percent(confidence(stage, other), 0), show: run.hasModel },
    { title: 'label', kind: 'name', cell: (other) => labelName(other) ?? '' },
  ];
  const list = table(columns, neighbours.slice(0, most), 'Neighbours');
  const agree = `The same class is predicted for ${integer(same)} of ${integer(neighbours.length)} neighbours.`;
  return [
    title,
    run.hasModel ? el('p', null, agree) : null,
    el('div', { class: 'scroll', id: 'node-neighbours' }, list),
    neighbours.length > most ? hint(`The first ${most} are listed.`) : null,
  ];
}
