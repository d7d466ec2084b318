// Which nodes to act on: a threshold with what it is expected to bring, and the table of all nodes.
import { downloadCsv } from '../lib/csv.js';
import { button, byId, el } from '../lib/elements.js';
import { counted, fitText, integer, isKnown, percent } from '../lib/format.js';
import { className, confidence, labelName, predicted, probabilityOf, run } from './data.js';
import { filteredNodes } from './filter.js';
import { noModel } from './found.js';
import { term } from './glossary.js';
import { NodeTable } from './node_table.js';
import { maskOf, setFilter, state, watch } from './state.js';

const settings = {
  label: -1, // the class that is ranked and flagged
  threshold: .5,
  alarm: '', // cost of a false alarm
  miss: '', // cost of a missed node
  text: '',
  column: '',
  limit: '',
  flagged: false,
  sort: { key: 'p', down: true },
};
const rows = new NodeTable();
let ranking = { key: '', nodes: [], p: new Float32Array(0), sums: new Float64Array(1) };

const isUnlabelled = (node) => labelName(node) === null && run.given[node] < 0;
const probability = (node) => run.hasModel ? probabilityOf(state.stage, node, settings.label) : NaN;

// The unlabelled nodes by falling probability of the class, with the sums of the probabilities.
function rank() {
  const key = `${run.fit} ${state.stage} ${settings.label} ${run.labelled.size}`;
  if (ranking.key === key) return ranking;
  const p = new Float32Array(run.nodeCount), nodes = [];
  for (let node = 0; node < run.nodeCount; node++) {
    p[node] = probability(node);
    if (isUnlabelled(node)) nodes.push(node);
  }
  nodes.sort((first, second) => p[second] - p[first]);
  const sums = new Float64Array(nodes.length + 1);
  nodes.forEach((node, place) => sums[place + 1] = sums[place] + p[node]);
  ranking = { key, nodes, p, sums };
  return ranking;
}

function flaggedCount({ nodes, p }, threshold) {
  let low = 0, high = nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (p[nodes[middle]] >= threshold) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Precision and recall with their intervals at a number of nodes, between the numbers that Python computed.
function expected(count) {
  const curve = run.decide[settings.label];
  if (!curve || !count) return null;
  const { sizes } = curve;
  const next = sizes.findIndex((size) => size >= count), high = next < 0 ? sizes.length - 1 : next;
  const low = Math.max(0, sizes[high] === count ? high : high - 1);
  const share = high === low ? 0 : (count - sizes[low]) / (sizes[high] - sizes[low]);
  const at = (place) => curve.rows[low][place] + share * (curve.rows[high][place] - curve.rows[low][place]);
  return { precision: [0, 1, 2].map(at), recall: [3, 4, 5].map(at), labels: curve.labels };
}

function figure(title, value, remark, id) {
  return el(
    'div',
    { class: 'card' },
    el('dt', null, title),
    el('dd', null, el('strong', { id }, value), el('span', null, remark)),
  );
}

function drawFigures() {
  const ranked = rank(), count = flaggedCount(ranked, settings.threshold), found = expected(count);
  const by = found?.labels ? 'held-out labels' : 'chance';
  const interval = (shares) => shares ? `${percent(shares[1], 0)} to ${percent(shares[2], 0)} by ${by}` : '';
  const name = className(settings.label);
  const cards = [
    figure('Flagged nodes', integer(count), `of ${integer(ranked.nodes.length)} without a label`, 'flagged-count'),
    figure(
      ['Expected ', term('precision')],
      found ? percent(found.precision[0]) : '–',
      interval(found?.precision),
      'expected-precision',
    ),
    figure(
      ['Expected ', term('recall')],
      found ? percent(found.recall[0]) : '–',
      interval(found?.recall),
      'expected-recall',
    ),
  ];
  const alarm = Number(settings.alarm), miss = Number(settings.miss);
  if (settings.alarm !== '' && settings.miss !== '' && alarm >= 0 && miss >= 0) {
    const hits = ranked.sums[count], all = ranked.sums[ranked.nodes.length];
    const cost = alarm * (count - hits) + miss * (all - hits);
    cards.push(
      figure(
        'Expected cost',
        integer(Math.round(cost)),
        `${integer(Math.round(count - hits))} false alarms, ${integer(Math.round(all - hits))} missed`,
        'expected-cost',
      ),
    );
  }
  byId('decide-figures').replaceChildren(...cards);
  const basis = found?.labels
    ? `From the probabilities of ${name}. The 90% intervals are those of ${
      counted(found.labels, 'held-out label')
    } and of chance.`
    : `From the probabilities of ${name}. The 90% intervals are of chance alone, as no label was held out.`;
  byId('decide-basis').textContent = found ? basis : '';
  byId('threshold-value').textContent = percent(settings.threshold, 0);
}

// The comparison that a person typed for a column: >5, <=3, 2..7 for numbers, else a part of the text.
function columnTest(column, wanted) {
  const text = wanted.trim().toLowerCase();
  if (!column || !text) return () => true;
  const between = text.match(/^(-?[\d.]+)\s*\.\.\s*(-?[\d.]+)$/), bound = text.match(/^(>=|<=|>|<|=)\s*(-?[\d.]+)$/);
  if (column.isNumber && between) {
    return (node) => column.value(node) >= Number(between[1]) && column.value(node) <= Number(between[2]);
  }
  if (column.isNumber && bound) {
    const limit = Number(bound[2]);
    const tests = {
      '>': (v) => v > limit,
      '<': (v) => v < limit,
      '>=': (v) => v >= limit,
      '<=': (v) => v <= limit,
      '=': (v) => v === limit,
    };
    return (node) => tests[bound[1]](column.value(node));
  }
  return (node) => column.text(node).toLowerCase().includes(text);
}

function tableColumns() {
  const { stage } = state, label = settings.label;
  const sure = (node) => run.hasModel ? confidence(stage, node) : NaN;
  return [
    { key: 'id', title: 'node', kind: 'name', text: (node) => run.nodeIds[node], link: true },
    {
      key: 'p',
      title: `p(${fitText(className(label), 130)})`,
      kind: 'number',
      value: probability,
      text: (node) => percent(probability(node)),
      show: run.hasModel,
    },
    {
      key: 'predicted',
      title: 'predicted',
      kind: 'name',
      text: (node) => className(predicted(stage, node)),
      show: run.hasModel,
    },
    {
      key: 'sure',
      title: 'p(predicted)',
      kind: 'number',
      value: sure,
      text: (node) => percent(sure(node)),
      show: run.hasModel && run.classCount > 2,
    },
    { key: 'label', title: 'given label', kind: 'name', text: (node) => labelName(node) ?? '' },
    {
      key: 'truth',
      title: 'true class',
      kind: 'name',
      text: (node) => run.truth[node] < 0 ? '' : className(run.truth[node]),
      show: run.hasTruth,
    },
    {
      key: 'degree',
      title: 'neighbours',
      kind: 'number',
      value: (node) => run.degree[node],
      text: (node) => integer(run.degree[node]),
    },
    ...run.columns.map((column, index) => ({
      key: `column-${index}`,
      title: column.name,
      kind: column.isNumber ? 'number' : 'name',
      value: column.isNumber ? column.value : undefined,
      text: column.text,
    })),
  ].filter((column) => column.show !== false);
}

function shownNodes(columns) {
  const { p } = rank(), words = settings.text.trim().toLowerCase();
  const test = columnTest(run.columns[settings.column], settings.limit);
  const texts = run.columns.filter((column) => !column.isNumber);
  const matches = (node) =>
    !words || run.nodeIds[node].toLowerCase().includes(words) ||
    texts.some((column) => column.text(node).toLowerCase().includes(words));
  const isFlagged = (node) => p[node] >= settings.threshold && isUnlabelled(node);
  const nodes = filteredNodes().filter((node) => (!settings.flagged || isFlagged(node)) && test(node) && matches(node));
  const by = columns.find(({ key }) => key === settings.sort.key) ?? columns[0], sign = settings.sort.down ? -1 : 1;
  const value = by.value ?? by.text;
  const order = (first, second) => {
    const a = value(first), b = value(second);
    if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return first - second;
    if (a === '' || Number.isNaN(a)) return 1;
    if (b === '' || Number.isNaN(b)) return -1;
    return a < b ? -sign : sign;
  };
  return nodes.sort(order);
}

export function drawDecideTable() {
  if (state.view !== 'decide' || !byId('decide-count')) return;
  const columns = tableColumns(), nodes = shownNodes(columns);
  rows.show(columns, nodes, settings.sort, (key) => {
    settings.sort = { key, down: settings.sort.key === key ? !settings.sort.down : key === 'p' || key === 'sure' };
    drawDecideTable();
  });
  byId('decide-count').textContent = counted(nodes.length, 'node');
}

function csvRows() {
  const columns = tableColumns(), { stage } = state;
  const shares = run.classNames.map((
    name,
    index,
  ) => [`p:${name}`, (node) => probabilityOf(stage, node, index).toFixed(5)]);
  const kept = columns.filter(({ key }) => key !== 'p' && key !== 'sure');
  const cell = (column, node) => {
    const value = column.value?.(node);
    return isKnown(value) ? value : column.value ? '' : column.text(node);
  };
  const head = [...kept.map(({ title }) => title === 'node' ? 'id' : title), ...shares.map(([name]) => name)];
  return [
    head,
    ...shownNodes(columns).map((node) => [
      ...kept.map((column) => cell(column, node)),
      ...shares.map(([, share]) => share(node)),
    ]),
  ];
}

const field = (title, control) => el('label', null, title, ' ', control);

function controls() {
  const slider = el('input', { id: 'threshold', type: 'range', min: 0, max: 1, step: .01, value: settings.threshold });
  slider.addEventListener('input', () => {
    settings.threshold = Number(slider.value);
    drawFigures();
    if (settings.flagged) drawDecideTable();
  });
  const classes = el(
    'select',
    { id: 'decide-class' },
    run.classNames.map((name, index) => el('option', { value: index, selected: index === settings.label }, name)),
  );
  classes.addEventListener('change', () => {
    settings.label = Number(classes.value);
    drawDecide();
  });
  const amount = (id, key) => {
    const input = el('input', { id, type: 'number', min: 0, step: 'any', value: settings[key] });
    input.addEventListener('input', () => {
      settings[key] = input.value;
      drawFigures();
    });
    return input;
  };
  const cheapest = () => {
    const alarm = Number(settings.alarm), miss = Number(settings.miss);
    if (!(alarm + miss > 0)) return;
    settings.threshold = Math.round(100 * alarm / (alarm + miss)) / 100;
    drawDecide();
  };
  return el(
    'div',
    { class: 'panel controls' },
    el('h2', null, 'Which nodes to act on'),
    field('Class', classes),
    el(
      'label',
      { for: 'threshold' },
      'Flag nodes with a probability of at least ',
      el('output', { id: 'threshold-value', for: 'threshold' }),
    ),
    slider,
    el('dl', { id: 'decide-figures', class: 'cards' }),
    el('p', { id: 'decide-basis', class: 'hint' }),
    el(
      'details',
      null,
      el('summary', null, 'Costs'),
      field('of a false alarm', amount('alarm', 'alarm')),
      field('of a missed node', amount('miss', 'miss')),
      button('Cheapest threshold', cheapest),
    ),
    el(
      'p',
      { class: 'buttons' },
      button('Show the flagged on the map', () => {
        const { p } = rank();
        setFilter(
          maskOf((node) => p[node] >= settings.threshold && isUnlabelled(node)),
          `flagged as ${className(settings.label)}`,
        );
      }),
    ),
  );
}

function tableTools() {
  const input = (id, key, attributes) => {
    const control = el('input', { id, ...attributes, value: settings[key] });
    control.addEventListener('input', () => {
      settings[key] = control.value;
      drawDecideTable();
    });
    return control;
  };
  const only = el('input', { id: 'only-flagged', type: 'checkbox', checked: settings.flagged });
  only.addEventListener('change', () => {
    settings.flagged = only.checked;
    drawDecideTable();
  });
  const column = el(
    'select',
    { id: 'filter-column', 'aria-label': 'Column to filter by' },
    el('option', { value: '' }, 'column …'),
    run.columns.map(({ name }, index) =>
      el('option', { value: index, selected: String(index) === settings.column }, name)
    ),
  );
  column.addEventListener('change', () => {
    settings.column = column.value;
    drawDecideTable();
  });
  return el(
    'div',
    { class: 'tools' },
    input('table-text', 'text', {
      type: 'search',
      placeholder: 'text in any column',
      'aria-label': 'Text in any column',
    }),
    run.columns.length ? column : null,
    run.columns.length
      ? input('table-limit', 'limit', {
        type: 'search',
        placeholder: 'text, >5, 2..7',
        'aria-label': 'Condition on the column',
      })
      : null,
    run.hasModel ? el('label', null, only, ' flagged only') : null,
    el('output', { id: 'decide-count' }),
    button('Download CSV', () => downloadCsv('nodes.csv', csvRows()), { id: 'decide-csv' }),
  );
}

export function drawDecide() {
  if (state.view !== 'decide') return;
  if (settings.label < 0 || settings.label >= run.classCount) settings.label = run.found?.focus ?? 0;
  byId('view-decide').replaceChildren(
    run.hasModel ? controls() : noModel(),
    el('div', { class: 'panel table-panel' }, tableTools(), rows.element),
  );
  if (run.hasModel) drawFigures();
  drawDecideTable();
}

export function startDecide() {
  watch(['view', 'stage'], drawDecide);
  watch(['filter', 'work'], drawDecideTable);
}
