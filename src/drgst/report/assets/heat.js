// A matrix with named rows and columns: a shade and, where there is room, a number in each cell.
function heatMap(values, width, {rows, columns, words, shade, title}) {
  const count = values.length, left = Math.min(150, Math.max(64, width * .26)), roomy = count <= 12;
  const long = Math.max(...D.classes.map(name => Math.min(name.length, 15))), lean = 4.2 * long, head = 36 + 5.6 * long;
  const side = Math.max(roomy ? 34 : 9, Math.min(64, (width - left - 6 - (roomy ? lean * .7 : 0)) / count)), high = roomy ? Math.max(24, Math.min(40, side)) : side;
  const all = left + count * side + Math.max(8, lean - side / 2 + 6);
  const place = (k, j) => ({x: left + j * side, y: head + k * high});
  const cell = (value, k, j) => {
    const at = place(k, j), dark = shade(value, k, j);
    return [svg('rect', {...at, width: side - 1, height: high - 1, rx: 2, fill: 'var(--accent)', 'fill-opacity': .04 + .86 * dark}, svg('title', null, title(k, j, value))),
      roomy ? svg('text', {x: at.x + side / 2, y: at.y + high / 2 + 4, 'text-anchor': 'middle', class: dark > .5 ? 'cell on' : 'cell'}, words(value)) : null];
  };
  const every = Math.max(1, Math.ceil(13 / side));
  const rowName = (name, k) => k % Math.max(1, Math.ceil(13 / high)) ? null : svg('text', {x: left - 6, y: head + k * high + high / 2 + 4, 'text-anchor': 'end'}, fit(name, left - 14), svg('title', null, name));
  const columnName = (name, j) => {
    const x = left + j * side + side / 2, y = head - 7;
    return j % every ? null : svg('text', {x, y, transform: `rotate(-55 ${x} ${y})`}, fit(name, 101), svg('title', null, name));
  };
  return svg('svg', {width: Math.max(all, 120), height: head + count * high + 4, role: 'img', 'aria-label': `${rows} by ${columns}`},
    svg('text', {x: 2, y: 12, class: 'soft'}, `rows: ${rows}; columns: ${columns}`), D.classes.map(rowName), D.classes.map(columnName), values.map((row, k) => row.map((value, j) => cell(value, k, j))));
}

function counts(values, width, rows, columns) { // shaded by share of its row
  const sums = values.map(row => row.reduce((a, b) => a + b, 0));
  return heatMap(values, width, {rows, columns, words: whole, shade: (v, k) => sums[k] ? v / sums[k] : 0,
    title: (k, j, v) => `${rows} ${className(k)}, ${columns} ${className(j)}: ${whole(v)} (${percent(sums[k] ? v / sums[k] : 0)} of the row)`});
}
function chances(values, width, rows, columns) {
  return heatMap(values, width, {rows, columns, words: v => v.toFixed(2).replace('-0.00', '0.00'), shade: v => Math.min(1, Math.max(0, v)),
    title: (k, j, v) => `${rows} ${className(k)}, ${columns} ${className(j)}: ${v.toFixed(3)}`});
}
