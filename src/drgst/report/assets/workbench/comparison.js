// Two runs side by side: their figures and settings, which predictions differ, and those nodes one by one.
import { downloadCsv } from '../lib/csv.js';
import { button, el, emptyText, responsive, table } from '../lib/elements.js';
import { counted, integer, percent } from '../lib/format.js';
import { countMap } from '../lib/heat_map.js';
import { className, confidence, labelName, predicted, run, unpack } from './data.js';
import { ask, otherName, work } from './live.js';
import { NodeTable } from './node_table.js';
import { change, maskOf, setFilter, state } from './state.js';

const rows = new NodeTable();
const MOST_PIXELS = 350; // of the list
let message = '', begun = false;

async function compare(name) {
  begun = true;
  if (!name) {
    change({ compared: null });
    return;
  }
  message = `Reading ${name} …`;
  change({ compared: null });
  try {
    const found = await ask(`compare/${encodeURIComponent(name)}`);
    message = '';
    change({ compared: { ...found, label: unpack(found.label), share: unpack(found.share), name } });
  } catch (error) {
    message = error.message;
    change({ compared: null });
  }
}

// The class that the other run predicts; null for a node that it does not have.
const otherClass = (node) => state.compared.label[node] < 0 ? null : state.compared.classes[state.compared.label[node]];
const otherShare = (node) => state.compared.label[node] < 0 ? NaN : state.compared.share[node] / 65535;
const ownClass = (node) => className(predicted(state.stage, node));

function differing() {
  const nodes = [];
  for (let node = 0; node < run.nodeCount; node++) {
    const other = otherClass(node);
    if (other !== null && other !== ownClass(node)) nodes.push(node);
  }
  const surest = (node) => Math.min(confidence(state.stage, node), otherShare(node));
  return nodes.sort((first, second) => surest(second) - surest(first));
}

const columns = () => [
  { key: 'id', title: 'node', kind: 'name', text: (node) => run.nodeIds[node], link: true },
  { key: 'own', title: 'this run', kind: 'name', text: ownClass },
  { key: 'sure', title: 'p', kind: 'number', text: (node) => percent(confidence(state.stage, node)) },
  { key: 'other', title: state.compared.name, kind: 'name', text: otherClass },
  { key: 'other-sure', title: 'p', kind: 'number', text: (node) => percent(otherShare(node)) },
  { key: 'label', title: 'given label', kind: 'name', text: (node) => labelName(node) ?? '' },
  ...run.columns.map((column, index) => ({
    key: `column-${index}`,
    title: column.name,
    kind: column.isNumber ? 'number' : 'name',
    text: column.text,
  })),
];

const csvRows = (nodes) => [
  ['id', 'this_run', 'p_this_run', 'other_run', 'p_other_run', 'label'],
  ...nodes.map((node) => [
    run.nodeIds[node],
    ownClass(node),
    confidence(state.stage, node).toFixed(5),
    otherClass(node),
    otherShare(node).toFixed(5),
    labelName(node) ?? '',
  ]),
];

// Counts of the nodes of both runs by class, where they share their classes.
function crossed() {
  const counts = run.classNames.map(() => run.classNames.map(() => 0));
  for (let node = 0; node < run.nodeCount; node++) {
    const other = run.classNames.indexOf(otherClass(node));
    if (other >= 0) counts[predicted(state.stage, node)][other]++;
  }
  const chart = el('div', { class: 'chart scroll', tabindex: 0 });
  responsive(chart, (width) => countMap(counts, Math.min(width, 620), run.classNames, 'this run', 'the other'));
  return chart;
}

function found() {
  const { name, figures, settings, common } = state.compared, nodes = differing();
  const beside = (head, values) =>
    el(
      'div',
      { class: 'scroll', tabindex: 0 },
      table(
        [
          { title: head, cell: ([key]) => key },
          { title: 'this run', kind: 'name', cell: ([, own]) => own },
          { title: name, kind: 'name', cell: ([, , other]) => other },
        ],
        values,
        head,
      ),
    );
  rows.show(columns(), nodes, { key: '', down: true }, () => {});
  const list = el('div', { class: 'table-panel low' }, rows.element);
  list.style.height = `${Math.min(MOST_PIXELS, 60 + 30 * nodes.length)}px`;
  const share = common ? ` (${percent(nodes.length / common)})` : '';
  return [
    el('div', { class: 'pair' }, beside('figure', figures), common ? crossed() : null),
    settings.length
      ? el('details', null, el('summary', null, 'Settings that differ'), beside('setting', settings))
      : null,
    el(
      'p',
      { id: 'differing' },
      `The runs predict another class for ${integer(nodes.length)} of the ${counted(common, 'node')} that both have` +
        `${share}${nodes.length ? '; those of which both are surest come first' : ''}.`,
    ),
    nodes.length ? list : null,
    nodes.length
      ? el(
        'p',
        { class: 'buttons' },
        button('Show them on the map', () => {
          const mask = new Set(nodes);
          setFilter(maskOf((node) => mask.has(node)), `predicted otherwise by ${name}`);
          change({ view: 'map' });
        }),
        button('Download CSV', () => downloadCsv('differences.csv', csvRows(nodes)), { id: 'differences-csv' }),
      )
      : null,
  ];
}

export function comparisonSection() {
  if (!run.live || !work.others?.length) return null;
  if (!begun && work.others.includes(otherName)) compare(otherName);
  const chosen = state.compared?.name ?? '';
  const select = el(
    'select',
    { id: 'compare' },
    el('option', { value: '' }, 'choose a run …'),
    work.others.map((name) => el('option', { value: name, selected: name === chosen }, name)),
  );
  select.addEventListener('change', () => compare(select.value));
  return [
    el('p', null, el('label', null, 'Beside this run: ', select)),
    message ? emptyText(message) : null,
    state.compared ? found() : null,
  ];
}
