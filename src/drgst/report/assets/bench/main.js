// The page of a bench: its tables and diagrams.
import { byId, el, hint, responsive, table } from '../lib/elements.js';
import { percent } from '../lib/format.js';
import { startTheme } from '../lib/theme.js';
import { accuracyChart, boxPlot, recipeMark, winChart } from './bench_charts.js';
import { accuracyTable, bestRuns, datasets, places, recipes, wins } from './bench_data.js';

function drawAccuracyTable() {
  const columns = accuracyTable.columns.map(([title, kind], place) => ({
    title,
    kind,
    cell: (row) => {
      const [text, isBest] = row[place];
      return isBest ? el('strong', null, `${text} *`) : text;
    },
  }));
  const remark = '* the highest mean for this data set and number of labels per class.';
  byId('table').replaceChildren(table(columns, accuracyTable.rows, accuracyTable.title));
  byId('table-notes').replaceChildren(...[...accuracyTable.notes, remark].map(hint));
}

function drawBestRuns() {
  const columns = [
    { title: 'data set', kind: 'name', cell: (run) => run.dataset },
    { title: 'labels per class', kind: 'number', cell: (run) => String(run.per_class) },
    { title: 'recipe', kind: 'name', cell: (run) => run.recipe },
    { title: 'draw', kind: 'number', cell: (run) => String(run.draw) },
    { title: 'validation', kind: 'number', cell: (run) => percent(run.val_accuracy) },
    { title: 'test', kind: 'number', cell: (run) => percent(run.test_accuracy) },
    { title: 'command; then drgst report FOLDER', cell: (run) => el('code', null, run.command) },
  ];
  byId('best-section').hidden = !bestRuns.length;
  byId('best').replaceChildren(table(columns, bestRuns, 'Best runs'));
}

function drawLegend() {
  const entry = (name, recipe) => el('span', { class: 'tag' }, recipeMark(recipe), ` ${name}`);
  byId('recipes').replaceChildren(...recipes.map(entry));
}

const placeOptions = () =>
  places.map(([dataset, labels], place) => el('option', { value: place }, `${dataset}, ${labels} labels per class`));
byId('boxes-place').append(...placeOptions());
byId('wins-place').append(el('option', { value: '' }, 'all'), ...placeOptions());

startTheme(drawAll);
const redrawAccuracy = datasets.map((dataset) => {
  const chart = el('div', { class: 'chart' });
  byId('lines').append(el('figure', null, el('figcaption', null, dataset), chart));
  return responsive(chart, (width) => accuracyChart(dataset, width));
});
const redrawBoxes = responsive(
  byId('boxes'),
  (width) => boxPlot(places[Number(byId('boxes-place').value)], width),
);
const redrawWins = responsive(byId('wins'), (width) => {
  const chosen = byId('wins-place').value === '' ? null : Number(byId('wins-place').value);
  return winChart(wins.find(({ place }) => place === chosen), width);
});
byId('boxes-place').addEventListener('change', redrawBoxes);
byId('wins-place').addEventListener('change', redrawWins);

function drawAll() {
  drawLegend();
  drawAccuracyTable();
  drawBestRuns();
  for (const redraw of [...redrawAccuracy, redrawBoxes, redrawWins]) redraw();
}

drawAll();
document.documentElement.dataset.ready = 'yes';
