// Tables and diagrams of a bench. Recipes are told apart by colour, shape and name.
const recipeLook = k => ({colour: PALETTES[theme][k % 10], shape: SHAPES[(k + Math.floor(k / 10)) % SHAPES.length], dash: [null, '7 4', '2 3', '9 3 2 3'][Math.floor(k / 2) % 4]});
const mark = (look_, x, y, r) => svg('path', {d: look_.shape, fill: look_.colour, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${r})`});
const placeName = ([dataset, labels]) => `${dataset}, ${labels} labels a class`;
const inPlace = ([dataset, labels]) => D.cells.filter(cell => cell.dataset === dataset && cell.labels === labels);
const datasets = [...new Set(D.places.map(place => place[0]))];

function drawTable() {
  const rows = D.table.rows.map(row => row.map(([text, best]) => best ? el('strong', null, `${text} *`) : text));
  $('table').replaceChildren(table(D.table.columns, rows, D.table.title));
  $('table-notes').replaceChildren(...D.table.notes.map(words => el('p', {class: 'hint'}, words)), el('p', {class: 'hint'}, '* the highest mean on that data set and label count.'));
}

function accuracyLines(dataset, width) { // accuracy against labels a class
  const cells = D.cells.filter(cell => cell.dataset === dataset), labels = [...new Set(cells.map(cell => cell.labels))].sort((a, b) => a - b);
  const ends = cells.flatMap(cell => cell.interval || [cell.mean]), low = Math.max(0, Math.min(...ends)), high = Math.min(1, Math.max(...ends)), pad = (high - low) * .06 || .01;
  const at = value => labels.length < 2 ? .5 : .06 + .88 * labels.indexOf(value) / (labels.length - 1);
  const p = plane(width, 300, [0, 1], [low - pad, high + pad], labels.map(v => [at(v), String(v)]), percentTicks(low - pad, high + pad, 5), 'labels a class', 'test accuracy');
  const line = (_, k) => {
    const own = cells.filter(cell => cell.recipe === k).sort((a, b) => a.labels - b.labels), look_ = recipeLook(k);
    const aside = (k - (C - 1) / 2) * Math.min(5, 60 / C), x = cell => p.x(at(cell.labels)) + aside; // so that intervals do not hide each other
    return [svg('path', {d: path(own.map(cell => [x(cell), p.y(cell.mean)])), fill: 'none', stroke: look_.colour, 'stroke-width': 1.6, 'stroke-dasharray': look_.dash}),
      own.map(cell => [cell.interval ? svg('line', {x1: x(cell), x2: x(cell), y1: p.y(cell.interval[0]), y2: p.y(cell.interval[1]), stroke: look_.colour}) : null,
        svg('g', null, mark(look_, x(cell), p.y(cell.mean), 4), svg('title', null, `${D.classes[k]}, ${cell.labels} labels: ${percent(cell.mean)} (${cell.values.length} draws)`))])];
  };
  return svg('svg', {width, height: 300, role: 'img', 'aria-label': `Accuracy against labels a class on ${dataset}`}, p.grid, D.classes.map(line));
}

function boxes(place, width) { // a box per recipe: quartiles, whiskers to the ends, every draw as a point
  const cells = inPlace(place).sort((a, b) => b.mean - a.mean), row = 26, left = Math.min(190, width * .36), all = cells.flatMap(cell => cell.values);
  const low = Math.min(...all), high = Math.max(...all), pad = (high - low) * .04 || .01, span = high - low + 2 * pad;
  const x = v => left + 8 + (v - low + pad) / span * (width - left - 30), height = cells.length * row + 44;
  const at = (sorted, q) => { const place_ = q * (sorted.length - 1), k = Math.floor(place_); return sorted[k] + (place_ - k) * ((sorted[k + 1] ?? sorted[k]) - sorted[k]); };
  const grid = ticks(low - pad, high + pad, 5).map(v => [svg('line', {x1: x(v), x2: x(v), y1: 4, y2: height - 36, stroke: 'var(--grid)'}), svg('text', {x: x(v), y: height - 22, 'text-anchor': 'middle', class: 'soft'}, percent(v, 0))]);
  const one = (cell, n) => {
    const sorted = [...cell.values].sort((a, b) => a - b), y = n * row + 18, look_ = recipeLook(cell.recipe), [q1, q2, q3] = [.25, .5, .75].map(q => at(sorted, q));
    return svg('g', null, svg('title', null, `${D.classes[cell.recipe]}: median ${percent(q2)}, quartiles ${percent(q1)} and ${percent(q3)}, ${sorted.length} draws`),
      svg('text', {x: left, y: y + 4, 'text-anchor': 'end'}, fit(D.classes[cell.recipe], left - 6)), svg('line', {x1: x(sorted[0]), x2: x(sorted.at(-1)), y1: y, y2: y, stroke: 'var(--ink)'}),
      svg('rect', {x: x(q1), y: y - 8, width: Math.max(1, x(q3) - x(q1)), height: 16, fill: look_.colour, 'fill-opacity': .3, stroke: 'var(--ink)'}), svg('line', {x1: x(q2), x2: x(q2), y1: y - 8, y2: y + 8, stroke: 'var(--ink)', 'stroke-width': 2.5}),
      sorted.map(v => mark(look_, x(v), y, 2.6)));
  };
  return svg('svg', {width, height, role: 'img', 'aria-label': 'A box per recipe'}, grid, cells.map(one), svg('text', {x: (left + width) / 2, y: height - 4, 'text-anchor': 'middle', class: 'soft'}, 'test accuracy'));
}

function winMatrix(width) {
  const place = Number($('place').value), found = D.wins.find(wins => wins.place === (place < 0 ? null : place));
  return heatMap(found.share, width, {rows: 'this recipe', columns: 'better than that one', words: v => known(v) ? percent(v, 0) : '', shade: v => known(v) ? v : 0,
    title: (k, j, v) => known(v) ? `${D.classes[k]} is better than ${D.classes[j]} on ${percent(v)} of ${found.count[k][j]} draws` : 'no draw that both have'});
}

function drawBest() {
  const row = run => [run.dataset, String(run.per_class), run.recipe, String(run.draw), percent(run.val_accuracy), percent(run.test_accuracy), el('code', null, run.again)];
  $('best').replaceChildren(table([['data set', 'name'], ['labels', 'number'], ['recipe', 'name'], ['draw', 'number'], ['validation', 'number'], ['test', 'number'], ['make it, then drgst report its folder', '']], D.best.map(row), 'Best runs'));
}

function applyTheme(name) { theme = name; document.documentElement.dataset.theme = name; $('theme').textContent = name === 'dark' ? '☀ Light' : '☾ Dark'; }
applyTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
$('place').append(el('option', {value: -1}, 'all'), ...D.places.map((place, at) => el('option', {value: at}, placeName(place))));
$('boxes-place').append(...D.places.map((place, at) => el('option', {value: at}, placeName(place))));
const legend = () => $('recipes').replaceChildren(...D.classes.map((name, k) => { const look_ = recipeLook(k); return el('span', {class: 'tag'}, svg('svg', {width: 30, height: 12, 'aria-hidden': 'true'}, svg('line', {x1: 0, x2: 30, y1: 6, y2: 6, stroke: look_.colour, 'stroke-width': 1.6, 'stroke-dasharray': look_.dash}), mark(look_, 15, 6, 4)), ` ${name}`); }));
const again = [];
$('lines').append(...datasets.map(name => { const box = el('div', {class: 'chart'}); again.push(chart(box, width => accuracyLines(name, width))); return el('figure', null, el('figcaption', null, name), box); }));
const boxesAgain = chart($('boxes'), width => boxes(D.places[Number($('boxes-place').value)], width)), winsAgain = chart($('wins'), winMatrix);
$('boxes-place').addEventListener('change', boxesAgain);
$('place').addEventListener('change', winsAgain);
function drawAll() { legend(); drawTable(); drawBest(); for (const call of [...again, boxesAgain, winsAgain]) call(); }
$('theme').addEventListener('click', () => { applyTheme(theme === 'dark' ? 'light' : 'dark'); drawAll(); });
drawAll();
document.documentElement.dataset.ready = 'yes';
