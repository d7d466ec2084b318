// Axes of SVG diagrams.
import { svg, svgLine } from './elements.js';
import { percent } from './format.js';

const softText = (x, y, anchor, text, more) =>
  svg('text', { x, y, 'text-anchor': anchor, class: 'soft', ...more }, text);

// {x, y, box, grid}: x and y map numbers to pixels. An axis is {from, to, ticks: [[value, text], ...], title}.
export function plane(width, height, xAxis, yAxis) {
  const box = { left: 54, top: 8, right: width - 22, bottom: height - 40 };
  const share = (value, { from, to }) => (value - from) / (to - from || 1);
  const x = (value) => box.left + share(value, xAxis) * (box.right - box.left);
  const y = (value) => box.bottom - share(value, yAxis) * (box.bottom - box.top);
  const gridColour = { stroke: 'var(--grid)' };
  const middle = (box.top + box.bottom) / 2;
  const grid = [
    xAxis.ticks.map(([value, text]) => [
      svgLine(x(value), box.top, x(value), box.bottom, gridColour),
      softText(x(value), box.bottom + 16, 'middle', text),
    ]),
    yAxis.ticks.map(([value, text]) => [
      svgLine(box.left, y(value), box.right, y(value), gridColour),
      softText(box.left - 6, y(value) + 4, 'end', text),
    ]),
    softText((box.left + box.right) / 2, height - 6, 'middle', xAxis.title),
    softText(11, middle, 'middle', yAxis.title, { transform: `rotate(-90 11 ${middle})` }),
  ];
  return { x, y, box, grid };
}

// Round numbers from low to high, about as many as count.
export function ticks(low, high, count = 4) {
  const rough = (high - low) / count || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((size) => size >= rough * .999);
  const values = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-6; at += step) {
    values.push(Number(at.toPrecision(8)));
  }
  return values;
}

export const percentTicks = (low, high, count) => ticks(low, high, count).map((value) => [value, percent(value, 0)]);

export const percentAxis = (from, to, title, count) => ({ from, to, title, ticks: percentTicks(from, to, count) });

export const linePath = (points) =>
  points.map(([x, y], index) => `${index ? 'L' : 'M'}${x.toFixed(1)},${y.toFixed(1)}`).join('');
