// The runs below the folder that the server was given.
import { el, hint, table } from '../lib/elements.js';
import { percent } from '../lib/format.js';
import { linkTo } from './live.js';

export function runList(runs) {
  const chosen = new Set();
  const beside = el('p', { id: 'beside' }, hint('Choose two runs to see them side by side.'));
  const choose = (name) => {
    const box = el('input', { type: 'checkbox', 'aria-label': `Compare ${name}` });
    box.addEventListener('change', () => {
      if (box.checked) chosen.add(name);
      else chosen.delete(name);
      const [first, second] = runs.map((row) => row.name).filter((each) => chosen.has(each));
      const link = chosen.size === 2
        ? el('a', { href: linkTo(first, second) }, `Compare ${first} and ${second}`)
        : null;
      beside.replaceChildren(link ?? hint('Choose two runs to see them side by side.'));
    });
    return box;
  };
  const some = (key) => runs.some((row) => row[key] !== null);
  const columns = [
    { title: 'compare', cell: ({ name }) => choose(name), show: runs.length > 1 },
    { title: 'run', kind: 'name', cell: ({ name }) => el('a', { href: linkTo(name) }, name) },
    { title: 'data', kind: 'name', cell: ({ dataset }) => dataset ?? '' },
    { title: 'recipe', kind: 'name', cell: ({ recipe }) => recipe ?? '' },
    { title: 'test accuracy', kind: 'number', cell: (row) => percent(row.test_accuracy), show: some('test_accuracy') },
    { title: 'out-of-fold', kind: 'number', cell: (row) => percent(row.oof_accuracy), show: some('oof_accuracy') },
  ];
  return el(
    'div',
    { class: 'panel' },
    el('h2', null, `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`),
    el('div', { class: 'scroll', id: 'run-list' }, table(columns, runs, 'Runs')),
    runs.length > 1 ? beside : null,
  );
}
