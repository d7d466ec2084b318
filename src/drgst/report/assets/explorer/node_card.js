// The card of one node: its class probabilities, its stages and its neighbours.
import { breakable, button, byId, el, emptyText, hint, svg, table } from '../lib/elements.js';
import { decimal, integer, percent } from '../lib/format.js';
import { markedClass, nodeLink } from './node_text.js';
import {
  classCount,
  className,
  classProbabilities,
  confidence,
  degree,
  enteredStage,
  hasGain,
  hasPseudoLabels,
  informationGain,
  isSuggested,
  listedClasses,
  neighboursOf,
  nodeIds,
  predicted,
  pseudoLabels,
  reasonsOf,
  role,
  roleNames,
  shownStages,
  suggestions,
  TRAINING,
  trueClass,
} from './run_data.js';
import { change, currentStage, state } from './state.js';

const SHOWN_NEIGHBOURS = 60;
const SHOWN_SUGGESTIONS = 6;

export function drawNodeCard() {
  const host = byId('node-card'), { node } = state;
  host.replaceChildren(...(node < 0 ? emptyCard() : cardOf(node)).flat().filter(Boolean));
  host.scrollTop = 0;
}

function emptyCard() {
  const rows = suggestions.rows.slice(0, SHOWN_SUGGESTIONS);
  const suggestion = (row) =>
    el(
      'p',
      null,
      nodeLink(row.node),
      ` predicted ${className(row.predicted)}, confidence ${percent(row.confidence, 0)}: ${row.reason}`,
    );
  const or = rows.length ? ', or start with one that is suggested for labelling:' : '.';
  return [
    el('h3', null, 'One node'),
    emptyText(`Click a point or find a node by its id${or}`),
    rows.map(suggestion),
  ];
}

function cardOf(node) {
  return [
    el('h3', { id: 'node-name' }, nodeIds[node]),
    el('div', null, tagsOf(node).map((text) => el('span', { class: 'tag' }, text))),
    el('h4', null, `Class probabilities, ${currentStage().name}`),
    probabilityLines(node),
    reasonTable(node),
    el('h4', null, 'Stage by stage'),
    el('div', { class: 'scroll', id: 'node-stages' }, stageTable(node)),
    el('h4', null, 'Neighbours'),
    neighbourList(node),
  ];
}

function tagsOf(node) {
  return [
    roleNames[role[node]],
    trueClass[node] < 0 ? 'label not known' : `label ${className(trueClass[node])}`,
    `${integer(degree[node])} ${degree[node] === 1 ? 'neighbour' : 'neighbours'}`,
    enteredStage[node] > 0 ? `pseudo-labelled from stage ${enteredStage[node]}` : null,
    isSuggested(node) ? 'suggested for labelling' : null,
  ].filter(Boolean);
}

function probabilityLines(node) {
  const lines = classProbabilities(state.stage, node).map(([index, share]) => ({ name: className(index), share }));
  const rest = 1 - lines.reduce((sum, { share }) => sum + share, 0);
  if (listedClasses < classCount) {
    lines.push({ name: `${classCount - listedClasses} others`, share: Math.max(0, rest) });
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

const shareBar = (share) =>
  svg(
    'svg',
    { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('rect', { width: 100, height: 10, fill: 'var(--grid)' }),
    svg('rect', { width: 100 * share, height: 10, fill: 'var(--accent)' }),
  );

// What the prediction of the result becomes without each feature, neighbour, view or labelled node.
function reasonTable(node) {
  const found = reasonsOf(node);
  if (!found) return null;
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
    el('h4', null, `Why ${found.label}, ${percent(found.probability)}`),
    el(
      'div',
      { class: 'scroll', id: 'node-reasons' },
      table(columns, found.rows, 'The prediction without each reason'),
    ),
  ];
}

function stageTable(node) {
  const places = shownStages.map((_, place) => place);
  const link = (place) => button(shownStages[place].name, () => change({ stage: place }), { class: 'link' });
  const columns = [
    { title: 'stage', cell: link },
    { title: 'predicted', kind: 'name', cell: (place) => predictionCell(place, node) },
    { title: 'conf.', kind: 'number', cell: (place) => percent(confidence(place, node), 0) },
    { title: 'gain', kind: 'number', cell: (place) => decimal(informationGain(place, node), 2), show: hasGain },
    { title: 'weight', kind: 'number', cell: (place) => weightText(place, node), show: hasPseudoLabels },
  ];
  return table(columns, places, 'The node, stage by stage', (place) => place === state.stage);
}

// The predicted class, and the pseudo-label where it is another.
function predictionCell(place, node) {
  const label = pseudoLabels[place].labels[node], prediction = predicted(place, node), truth = trueClass[node];
  const other = label >= 0 && label !== prediction;
  return [
    markedClass(prediction, truth),
    other ? el('div', { class: 'remark' }, 'pseudo-label ', markedClass(label, truth)) : null,
  ];
}

// The weight of the node in the training of a stage.
function weightText(place, node) {
  if (role[node] === TRAINING) return 'label';
  return decimal(pseudoLabels[place].weights[node], 2);
}

function neighbourList(node) {
  const neighbours = Array.from(neighboursOf(node)), { stage } = state;
  if (!neighbours.length) {
    const text = degree[node] ? `None of its ${integer(degree[node])} neighbours is on the map.` : 'It has none.';
    return emptyText(text);
  }
  const same = neighbours.filter((other) => predicted(stage, other) === predicted(stage, node)).length;
  const held = neighbours.length < degree[node]
    ? `${integer(neighbours.length)} of its ${integer(degree[node])} neighbours are on the map. `
    : '';
  const columns = [
    { title: 'node', kind: 'name', cell: nodeLink },
    { title: 'predicted', kind: 'name', cell: (other) => markedClass(predicted(stage, other), trueClass[other]) },
    { title: 'conf.', kind: 'number', cell: (other) => percent(confidence(stage, other), 0) },
    { title: '', cell: (other) => role[other] === TRAINING ? 'labelled' : '' },
  ];
  const list = table(columns, neighbours.slice(0, SHOWN_NEIGHBOURS), 'Neighbours');
  return [
    el('p', null, `${held}The same class is predicted for ${integer(same)} of ${integer(neighbours.length)}.`),
    el('div', { class: 'scroll', id: 'node-neighbours' }, list),
    neighbours.length > SHOWN_NEIGHBOURS ? hint(`The first ${SHOWN_NEIGHBOURS} are listed.`) : null,
  ];
}
