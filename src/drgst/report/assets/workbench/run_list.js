// The runs below the folder that the server was given.
import { el, table } from '../lib/elements.js';
import { percent } from '../lib/format.js';
import { linkTo } from './live.js';

export function runList(runs) {
  const columns = [
    { title: 'run', kind: 'name', cell: ({ name }) => el('a', { href: linkTo(name) }, name) },
    { title: 'data', kind: 'name', cell: ({ dataset }) => dataset ?? '' },
    { title: 'recipe', kind: 'name', cell: ({ recipe }) => recipe ?? '' },
    { title: 'test accuracy', kind: 'number', cell: (row) => percent(row.test_accuracy) },
    { title: 'out-of-fold', kind: 'number', cell: (row) => percent(row.oof_accuracy) },
  ];
  return el(
    'div',
    { class: 'panel' },
    el('h2', null, 'Runs'),
    el('div', { class: 'scroll' }, table(columns, runs, 'Runs')),
  );
}
