// The sections that are the same for every stage: what to label next, settings, notes.
import { downloadCsv } from '../lib/csv.js';
import { button, byId, el, hint, table } from '../lib/elements.js';
import { decimal, integer, percent } from '../lib/format.js';
import { nodeLink } from './node_text.js';
import { className, facts, nodeIds, notes, suggestions } from './run_data.js';

export const hasSuggestions = suggestions.rows.length > 0;

export function drawSuggestions() {
  const { rows, measure } = suggestions;
  if (!rows.length) return;
  byId('next-text').textContent =
    `Each is the node with the largest ${measure} in a cluster of similar nodes, so that ` +
    'the labels are informative and differ from each other.';
  const columns = [
    { title: '', kind: 'number', cell: (_, place) => String(place + 1) },
    { title: 'node', kind: 'name', cell: (row) => nodeLink(row.node) },
    { title: 'predicted', kind: 'name', cell: (row) => className(row.predicted) },
    { title: 'confidence', kind: 'number', cell: (row) => percent(row.confidence) },
    { title: measure, kind: 'number', cell: (row) => decimal(row.score) },
    { title: 'cluster size', kind: 'number', cell: (row) => integer(row.cluster_size) },
  ];
  byId('suggestions').replaceChildren(
    table(columns, rows, 'What to label next'),
    el('p', null, button('Download CSV', () => downloadCsv('label-next.csv', csvRows()), { id: 'suggestions-csv' })),
  );
}

function csvRows() {
  const row = ({ node, predicted, confidence, score, cluster_size: size }, place) => [
    place + 1,
    nodeIds[node],
    className(predicted),
    confidence.toFixed(5),
    score,
    size,
  ];
  return [['rank', 'id', 'predicted', 'confidence', 'score', 'cluster_size'], ...suggestions.rows.map(row)];
}

export function drawFacts() {
  byId('command').textContent = facts.command;
  const columns = [{ title: '', cell: ([key]) => key }, { title: '', kind: 'name', cell: ([, value]) => value }];
  const factTable = ([title, rows]) =>
    el('div', null, el('h3', null, title), el('div', { class: 'scroll' }, table(columns, rows, title)));
  byId('facts').replaceChildren(...facts.tables.filter(([, rows]) => rows.length).map(factTable));
  byId('notes').replaceChildren(...notes.map(hint));
}
