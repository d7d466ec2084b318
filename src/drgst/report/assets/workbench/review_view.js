// Given labels that look wrong: what predictions without them say, and a decision on each.
import { downloadCsv } from '../lib/csv.js';
import { button, byId, el, emptyText, table } from '../lib/elements.js';
import { integer, percent } from '../lib/format.js';
import { className, labelName, neighboursOf, predicted, run } from './data.js';
import { noModel } from './found.js';
import { term } from './glossary.js';
import { ask, keepState } from './live.js';
import { change, state, watch } from './state.js';

const kept = new Set(); // nodes whose label the reader has confirmed
let message = '';

function whyText({ node, suggested }) {
  const others = Array.from(neighboursOf(node));
  if (!others.length) return 'its own columns';
  const same = others.filter((other) => predicted(state.stage, other) === suggested).length;
  return `${integer(same)} of ${integer(others.length)} neighbours are predicted ${className(suggested)}`;
}

async function relabel(row) {
  try {
    keepState(await ask('label', { node: row.node, label: className(row.suggested) }));
    message = '';
  } catch (error) {
    message = error.message;
  }
  change({ work: true });
}

function decision(row) {
  if (labelName(row.node) !== className(row.given)) return `changed to ${labelName(row.node)}`;
  if (kept.has(row.node)) return 'kept';
  const keep = () => {
    kept.add(row.node);
    drawReview();
  };
  return el(
    'span',
    { class: 'buttons' },
    button('Keep', keep),
    button(`Change to ${className(row.suggested)}`, () => relabel(row)),
  );
}

const withShare = (label, share) => [className(label), ' ', el('span', { class: 'remark' }, percent(share))];

const csvRows = (rows) => [
  ['id', 'label', 'given', 'p_given', 'p_suggested'],
  ...rows.map((
    row,
  ) => [run.nodeIds[row.node], className(row.suggested), className(row.given), row.p_given, row.p_suggested]),
];

export function drawReview() {
  if (state.view !== 'review') return;
  const host = byId('view-review'), found = run.review;
  const title = el('h2', null, 'Given labels that look wrong');
  if (!run.hasModel) {
    host.replaceChildren(noModel());
    return;
  }
  if (!found) {
    host.replaceChildren(
      el(
        'div',
        { class: 'panel' },
        title,
        emptyText('No label was held out, so there is nothing to compare the labels with.'),
      ),
    );
    return;
  }
  const rows = found.rows.filter(({ node }) => !state.filter || state.filter[node]);
  const link = ({ node }) => button(run.nodeIds[node], () => change({ view: 'map', node }), { class: 'link' });
  const columns = [
    { title: 'node', kind: 'name', cell: link },
    { title: 'given label', kind: 'name', cell: (row) => withShare(row.given, row.p_given) },
    { title: 'predicted without it', kind: 'name', cell: (row) => withShare(row.suggested, row.p_suggested) },
    { title: 'why', kind: 'name', cell: whyText },
    { title: 'decision', cell: decision, show: run.live },
  ];
  host.replaceChildren(
    el(
      'div',
      { class: 'panel' },
      title,
      el(
        'p',
        null,
        `${integer(found.contradicted)} of ${integer(found.labels)} given labels are contradicted by `,
        term('out-of-fold'),
        ' predictions; the most doubtful come first.',
      ),
      el('p', { class: 'bad', role: 'status' }, message),
      rows.length
        ? el('div', { class: 'scroll', id: 'review-table' }, table(columns, rows, 'Doubtful labels'))
        : emptyText(state.filter ? 'None of the nodes that are shown.' : 'None.'),
      rows.length ? el('p', null, button('Download CSV', () => downloadCsv('review.csv', csvRows(rows)))) : null,
    ),
  );
}

export function startReview() {
  watch(['view', 'filter', 'work'], drawReview);
}
