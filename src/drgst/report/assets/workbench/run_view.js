// What the run did: figures, stages, shift, calibration, classes, training, settings; only what has content.
import { downloadCsv } from '../lib/csv.js';
import { button, byId, el, hint, table } from '../lib/elements.js';
import { percent } from '../lib/format.js';
import { className, run } from './data.js';
import { gainAxes, gainPositions } from './gain_axes.js';
import { comparisonSection } from './comparison.js';
import { noModel } from './found.js';
import { explainWords, glossary } from './glossary.js';
import { makeInteractive } from './interaction.js';
import { nodeLink } from './node_text.js';
import { ScatterPlot } from './scatter_plot.js';
import { calibrationSection, classSection, correctionSection, shiftSection, stageSection } from './stage_sections.js';
import { change, state, watch } from './state.js';
import { trainingSection } from './training_curves.js';

let gainPlot = null;

const card = ([title, value, remark]) =>
  el(
    'div',
    { class: 'card' },
    el('dt', null, title),
    el('dd', null, el('strong', null, value), el('span', null, remark)),
  );

const summarySection = () => [
  el('dl', { class: 'cards' }, run.cards.map(card)),
  run.sentences.map((text) => el('p', null, text)),
  run.notes.map(hint),
];

function gainSection() {
  if (!run.hasGain) return null;
  const log = el('input', { id: 'log-gain', type: 'checkbox', checked: state.logGain });
  log.addEventListener('change', () => change({ logGain: log.checked }));
  const text = run.hasThreshold
    ? 'Unlabelled nodes right of the line are pseudo-labelled in the next stage.'
    : 'This recipe does not select by a threshold.';
  const host = el('div', { id: 'gain', class: 'plot low' });
  requestAnimationFrame(() => {
    gainPlot = new ScatterPlot(host, {
      label: 'Confidence against information gain. Arrow keys go from point to point.',
      positions: gainPositions,
      axes: gainAxes,
    });
    makeInteractive(gainPlot);
  });
  return [hint(text), el('label', null, log, ' log scale'), host];
}

function suggestionSection() {
  const { rows, note } = run.suggestions;
  if (!rows.length) return null;
  const columns = [
    { title: '#', kind: 'number', cell: (_, place) => String(place + 1) },
    { title: 'node', kind: 'name', cell: (row) => nodeLink(row.node) },
    { title: 'predicted', kind: 'name', cell: (row) => className(row.predicted) },
    { title: 'confidence', kind: 'number', cell: (row) => percent(row.confidence) },
    { title: 'why', kind: 'name', cell: (row) => row.reason },
  ];
  const csv = () => [
    ['id', 'label', 'predicted', 'confidence', 'reason', 'chosen_by', 'probability'],
    ...rows.map((row) => [
      run.nodeIds[row.node],
      '',
      className(row.predicted),
      row.confidence.toFixed(5),
      row.reason,
      row.chosen_by,
      row.probability ?? '',
    ]),
  ];
  return [
    hint(`${note} Fill in the column label of the CSV; drgst run --add-labels label-next.csv goes on from there.`),
    el('div', { id: 'suggestions', class: 'scroll' }, table(columns, rows, 'What to label next')),
    el('p', null, button('Download CSV', () => downloadCsv('label-next.csv', csv()), { id: 'suggestions-csv' })),
  ];
}

function settingsSection() {
  if (!run.facts) return null;
  const columns = [{ title: '', cell: ([key]) => key }, { title: '', kind: 'name', cell: ([, value]) => value }];
  const one = ([title, rows]) =>
    el('div', null, el('h3', null, title), el('div', { class: 'scroll', tabindex: 0 }, table(columns, rows, title)));
  return [
    el('p', null, 'This command repeats the run:'),
    el('pre', { id: 'command', tabindex: 0 }, run.facts.command),
    el('div', { id: 'facts', class: 'many' }, run.facts.tables.filter(([, rows]) => rows.length).map(one)),
  ];
}

/** @type {[string, string, () => any][]} id, title, and what makes the content */
const SECTIONS = [
  ['summary', 'Summary', summarySection],
  ['comparison', 'Two runs side by side', comparisonSection],
  ['stages', 'Stages', stageSection],
  ['gain-section', 'Confidence against information gain', gainSection],
  ['shift', 'Distribution shift', shiftSection],
  ['correction', 'Pseudo-labels and their correction', correctionSection],
  ['calibration', 'Calibration of the confidence', calibrationSection],
  ['classes', 'Results by class', classSection],
  ['training', 'Training curves', trainingSection],
  ['next', 'What to label next', suggestionSection],
  ['settings', 'Settings and reproduction', settingsSection],
  ['glossary', 'Glossary', () => [glossary()]],
];

export function drawRun() {
  if (state.view !== 'run') return;
  const shown = run.hasModel ? SECTIONS : SECTIONS.filter(([id]) => id === 'glossary');
  const made = shown.map(([id, title, make]) => [id, title, make()]).filter(([, , content]) => content);
  byId('view-run').replaceChildren(
    ...(run.hasModel ? [] : [noModel()]),
    ...made.map(([id, title, content]) =>
      el('div', { id, class: 'panel', role: 'region', 'aria-label': title }, el('h2', null, title), content)
    ),
  );
  explainWords(byId('view-run'));
}

export function startRun() {
  watch(['view', 'stage', 'compared'], drawRun);
  watch(['logGain'], () => gainPlot?.draw());
}
