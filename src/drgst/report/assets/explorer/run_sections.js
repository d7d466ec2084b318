// The sections that are the same for every stage: what to label next, settings, notes.
import { downloadCsv } from '../lib/csv.js';
import { button, byId, el, hint, table } from '../lib/elements.js';
import { percent } from '../lib/format.js';
import { nodeLink } from './node_text.js';
import { className, facts, nodeIds, notes, suggestions } from './run_data.js';

export const hasSuggestions = suggestions.rows.length > 0;

export function drawSuggestions() {
  const { rows, note } = suggestions;
  if (!rows.length) return;
  byId('next-text').textContent =
    `${note} Fill in the column label of the CSV; drgst run --add-labels label-next.csv goes on from there.`;
  const columns = [
    { title: '', kind: 'number', cell: (_, place) => String(place + 1) },
    { title: 'node', kind: 'name', cell: (row) => nodeLink(row.node) },
    { title: 'predicted', kind: 'name', cell: (row) => className(row.predicted) },
    { title: 'confidence', kind: 'number', cell: (row) => percent(row.confidence) },
    { title: 'why', kind: 'name', cell: (row) => row.reason },
  ];
  byId('suggestions').replaceChildren(
    table(columns, rows, 'What to label next'),
    el('p', null, button('Download CSV', () => downloadCsv('label-next.csv', csvRows()), { id: 'suggestions-csv' })),
  );
}

function csvRows() {
  const row = ({ node, predicted, confidence, reason, chosen_by: by, probability }) => [
    nodeIds[node],
    '',
    className(predicted),
    confidence.toFixed(5),
    reason,
    by,
    probability ?? '',
  ];
  const head = ['id', 'label', 'predicted', 'confidence', 'reason', 'chosen_by', 'probability'];
  return [head, ...suggestions.rows.map(row)];
}

export function drawFacts() {
  byId('command').textContent = facts.command;
  const columns = [{ title: '', cell: ([key]) => key }, { title: '', kind: 'name', cell: ([, value]) => value }];
  const factTable = ([title, rows]) =>
    el('div', null, el('h3', null, title), el('div', { class: 'scroll' }, table(columns, rows, title)));
  byId('facts').replaceChildren(...facts.tables.filter(([, rows]) => rows.length).map(factTable));
  byId('notes').replaceChildren(...notes.map(hint));
}
