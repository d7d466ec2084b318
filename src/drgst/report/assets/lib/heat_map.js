// A square matrix with named rows and columns: a shade and, where there is room, a number in each cell.
import { svg } from './elements.js';
import { fitText, integer, percent } from './format.js';

const ROOMY = 12; // up to so many rows, the numbers are written in the cells
const LETTERS = 15; // of a column name that the head has room for

// options: {names, rows, columns, text(value), shade(value, row) in [0, 1], title(row, column, value)}
export function heatMap(values, width, options) {
  const { names, rows, columns } = options;
  const layout = layoutOf(names, width);
  const { left, head, cellWidth, cellHeight } = layout;
  const rowStep = Math.max(1, Math.ceil(13 / cellHeight));
  const columnStep = Math.max(1, Math.ceil(13 / cellWidth));
  const rowName = (name, row) => {
    if (row % rowStep) return null;
    const place = { x: left - 6, y: head + (row + .5) * cellHeight + 4, 'text-anchor': 'end' };
    return svg('text', place, fitText(name, left - 14), svg('title', null, name));
  };
  const columnName = (name, column) => {
    if (column % columnStep) return null;
    const x = left + (column + .5) * cellWidth, y = head - 7;
    const place = { x, y, transform: `rotate(-55 ${x} ${y})` };
    return svg('text', place, fitText(name, 101), svg('title', null, name));
  };
  return svg(
    'svg',
    {
      width: Math.max(layout.width, 120),
      height: head + names.length * cellHeight + 4,
      role: 'img',
      'aria-label': `${rows} by ${columns}`,
    },
    svg('text', { x: 2, y: 12, class: 'soft' }, `rows: ${rows}; columns: ${columns}`),
    names.map(rowName),
    names.map(columnName),
    values.map((line, row) => line.map((value, column) => cell(value, row, column, layout, options))),
  );
}

function layoutOf(names, width) {
  const count = names.length, roomy = count <= ROOMY;
  const letters = Math.max(...names.map((name) => Math.min(name.length, LETTERS)));
  const slant = 4.2 * letters; // width of a slanted column name
  const left = Math.min(150, Math.max(64, width * .26));
  const room = width - left - 6 - (roomy ? slant * .7 : 0);
  const cellWidth = Math.max(roomy ? 34 : 9, Math.min(64, room / count));
  const cellHeight = roomy ? Math.max(24, Math.min(40, cellWidth)) : cellWidth;
  const all = left + count * cellWidth + Math.max(8, slant - cellWidth / 2 + 6);
  return { roomy, left, head: 36 + 5.6 * letters, cellWidth, cellHeight, width: all };
}

function cell(value, row, column, { roomy, left, head, cellWidth, cellHeight }, { text, shade, title }) {
  const x = left + column * cellWidth, y = head + row * cellHeight, strength = shade(value, row);
  const box = { x, y, width: cellWidth - 1, height: cellHeight - 1, rx: 2 };
  const colour = { fill: 'var(--accent)', 'fill-opacity': .04 + .46 * strength }; // the number stays readable
  const square = svg('rect', { ...box, ...colour }, svg('title', null, title(row, column, value)));
  if (!roomy) return square;
  const place = { x: x + cellWidth / 2, y: y + cellHeight / 2 + 4, 'text-anchor': 'middle' };
  return [square, svg('text', { ...place, class: 'cell' }, text(value))];
}

// A matrix of counts, shaded by share of the row.
export function countMap(values, width, names, rows, columns) {
  const sums = values.map((line) => line.reduce((total, value) => total + value, 0));
  const shade = (value, row) => sums[row] ? value / sums[row] : 0;
  const title = (row, column, value) =>
    `${rows} ${names[row]}, ${columns} ${names[column]}: ${integer(value)} (${percent(shade(value, row))} of the row)`;
  return heatMap(values, width, { names, rows, columns, text: integer, shade, title });
}

// A matrix of probabilities.
export function probabilityMap(values, width, names, rows, columns) {
  return heatMap(values, width, {
    names,
    rows,
    columns,
    text: (value) => value.toFixed(2).replace('-0.00', '0.00'),
    shade: (value) => Math.min(1, Math.max(0, value)),
    title: (row, column, value) => `${rows} ${names[row]}, ${columns} ${names[column]}: ${value.toFixed(3)}`,
  });
}
