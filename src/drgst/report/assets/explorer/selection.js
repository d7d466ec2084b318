// The selected nodes: how they are chosen, their table and their CSV.
import { downloadCsv } from '../lib/csv.js';
import { announce, button, byId, el, emptyText, hint, table } from '../lib/elements.js';
import { decimal, integer, isKnown, percent } from '../lib/format.js';
import { enteredText, markedClass, nodeLink } from './node_text.js';
import {
  className,
  classNames,
  confidence,
  enteredStage,
  hasGain,
  hasPseudoLabels,
  hasTruth,
  informationGain,
  isSuggested,
  isWrong,
  nodeCount,
  nodeIds,
  predicted,
  pseudoLabels,
  role,
  roleNames,
  shownStages,
  suggestions,
  trueClass,
} from './run_data.js';
import { change, currentStage, state } from './state.js';

const TABLE_ROWS = 200; // the CSV has all

export function select(mask, name = '') {
  const any = Boolean(mask) && mask.some((value) => value);
  change({ selected: any ? mask : null, selectionName: any ? name : '' });
  if (mask && !any) announce('no node is selected');
}

// Closes the card and clears the selection.
export const clearChoice = () => change({ node: -1, selected: null, selectionName: '' });

export const maskOf = (test) => Uint8Array.from({ length: nodeCount }, (_, node) => test(node) ? 1 : 0);

const pseudoLabelOf = (node) => pseudoLabels[state.stage].labels[node];
const isPseudoLabelled = (node) => pseudoLabelOf(node) >= 0;
const hasWrongPseudoLabel = (node) =>
  isPseudoLabelled(node) && trueClass[node] >= 0 && pseudoLabelOf(node) !== trueClass[node];

// What the menu "Select" offers.
const CRITERIA = [
  { key: 'wrong', name: 'predicted wrongly', test: (node) => isWrong(state.stage, node), show: hasTruth },
  { key: 'pseudo', name: 'pseudo-labelled in this stage', test: isPseudoLabelled, show: hasPseudoLabels },
  {
    key: 'pseudo-wrong',
    name: 'with a wrong pseudo-label',
    test: hasWrongPseudoLabel,
    show: hasTruth && hasPseudoLabels,
  },
  {
    key: 'changed',
    name: 'changed since the teacher',
    test: (node) => predicted(state.stage, node) !== predicted(0, node),
    show: shownStages.length > 1,
  },
  { key: 'suggested', name: 'to label next', test: isSuggested, show: suggestions.rows.length > 0 },
  ...roleNames.map((name, index) => ({
    key: `role-${index}`,
    name: `${name} nodes`,
    test: (node) => role[node] === index,
    show: index > 0 && role.includes(index),
  })),
  ...classNames.map((name, index) => ({
    key: `class-${index}`,
    name: `predicted ${name}`,
    test: (node) => predicted(state.stage, node) === index,
  })),
].filter((criterion) => criterion.show !== false);

export function startSelectionMenu() {
  const menu = byId('select');
  menu.append(
    el('option', { value: '' }, 'nothing'),
    ...CRITERIA.map(({ key, name }) => el('option', { value: key }, name)),
  );
  menu.addEventListener('change', () => {
    const criterion = CRITERIA.find(({ key }) => key === menu.value);
    if (criterion) select(maskOf(criterion.test), criterion.name);
    else select(null);
  });
}

function selectedNodes() {
  const nodes = [];
  if (state.selected) state.selected.forEach((value, node) => value && nodes.push(node));
  return nodes;
}

export function drawSelection() {
  const nodes = selectedNodes(), host = byId('selection'), title = el('h3', null, 'Selection');
  if (!nodes.length) {
    const how = 'Nothing is selected. Drag with box or lasso on the map or on the diagram, click an entry of the ' +
      'legend, or use the menu "Select".';
    host.replaceChildren(title, emptyText(how));
    return;
  }
  const cut = nodes.length > TABLE_ROWS;
  host.replaceChildren(
    title,
    el('p', null, selectionSummary(nodes)),
    el(
      'p',
      { class: 'buttons' },
      button('Download CSV', () => downloadCsv('selection.csv', csvRows(nodes)), { id: 'selection-csv' }),
      button('Clear', () => select(null)),
    ),
    el('div', { class: 'scroll' }, selectionTable(nodes.slice(0, TABLE_ROWS))),
    ...(cut ? [hint(`The first ${TABLE_ROWS} are shown. The CSV has all ${integer(nodes.length)}.`)] : []),
  );
}

function selectionSummary(nodes) {
  const known = nodes.filter((node) => trueClass[node] >= 0);
  const right = known.filter((node) => !isWrong(state.stage, node)).length;
  const accuracy = known.length ? `; ${percent(right / known.length)} of those with a known class are right` : '';
  return `${integer(nodes.length)} ${nodes.length === 1 ? 'node' : 'nodes'} ${state.selectionName}${accuracy}`;
}

function selectionTable(nodes) {
  const { stage } = state;
  const columns = [
    { title: 'node', kind: 'name', cell: nodeLink },
    { title: 'predicted', kind: 'name', cell: (node) => markedClass(predicted(stage, node), trueClass[node]) },
    { title: 'confidence', kind: 'number', cell: (node) => percent(confidence(stage, node)) },
    { title: 'gain', kind: 'number', cell: (node) => decimal(informationGain(stage, node)), show: hasGain },
    { title: 'true class', kind: 'name', cell: (node) => className(trueClass[node]), show: hasTruth },
    { title: 'pseudo-labelled', cell: enteredText, show: hasPseudoLabels },
  ];
  return table(columns, nodes, 'Selected nodes');
}

function csvRows(nodes) {
  const { stage } = state, { labels, weights } = pseudoLabels[stage];
  const number = (value) => isKnown(value) ? value : '';
  const classText = (index) => index < 0 ? '' : className(index);
  const columns = {
    id: (node) => nodeIds[node],
    part: (node) => roleNames[role[node]],
    'true_class': (node) => classText(trueClass[node]),
    stage: () => currentStage().number,
    predicted: (node) => className(predicted(stage, node)),
    confidence: (node) => confidence(stage, node).toFixed(5),
    gain: (node) => number(informationGain(stage, node)),
    'pseudo_label': (node) => classText(labels[node]),
    weight: (node) => number(weights[node]),
    'entered_stage': (node) => enteredStage[node],
  };
  const cells = Object.values(columns);
  return [Object.keys(columns), ...nodes.map((node) => cells.map((cell) => cell(node)))];
}
