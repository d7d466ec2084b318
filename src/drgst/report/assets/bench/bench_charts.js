// Diagrams of a bench. Colour, shape and name identify a recipe.
import { linePath, percentAxis, plane, ticks } from '../lib/axes.js';
import { svg, svgLine } from '../lib/elements.js';
import { ascending, fitText, isKnown, percent } from '../lib/format.js';
import { heatMap } from '../lib/heat_map.js';
import { categorical, shapeOf } from '../lib/palette.js';
import { cells, recipes } from './bench_data.js';

const DASHES = [null, '7 4', '2 3', '9 3 2 3'];
const ROW_HEIGHT = 26; // of a recipe in the box plot

const styleOf = (recipe) => ({
  colour: categorical(recipe),
  shape: shapeOf(recipe),
  dash: DASHES[Math.floor(recipe / 2) % DASHES.length],
});

const markAt = ({ shape, colour }, x, y, radius) =>
  svg('path', { d: shape, fill: colour, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${radius})` });

const strokeOf = ({ colour, dash }) => ({ stroke: colour, 'stroke-width': 1.6, 'stroke-dasharray': dash });

export function recipeMark(recipe) {
  const style = styleOf(recipe);
  const box = { width: 30, height: 12, 'aria-hidden': 'true' };
  return svg('svg', box, svgLine(0, 6, 30, 6, strokeOf(style)), markAt(style, 15, 6, 4));
}

// Mean accuracy with its interval against the number of labels per class, a line per recipe.
export function accuracyChart(dataset, width) {
  const own = cells.filter((cell) => cell.dataset === dataset), height = 300;
  const labels = [...new Set(own.map((cell) => cell.labels))].sort(ascending);
  const ends = own.flatMap((cell) => cell.interval || [cell.mean]);
  const low = Math.max(0, Math.min(...ends)), high = Math.min(1, Math.max(...ends)), margin = (high - low) * .06 || .01;
  const across = (count) => labels.length < 2 ? .5 : .09 + .82 * labels.indexOf(count) / (labels.length - 1);
  const xTicks = labels.map((count) => [across(count), String(count)]);
  const { x, y, grid } = plane(
    width,
    height,
    { from: 0, to: 1, ticks: xTicks, title: 'labels per class' },
    percentAxis(low - margin, high + margin, 'test accuracy', 5),
  );
  const line = (name, recipe) => {
    const style = styleOf(recipe);
    const points = own.filter((cell) => cell.recipe === recipe)
      .sort((first, second) => first.labels - second.labels)
      .map((cell) => ({ ...cell, x: x(across(cell.labels)) + aside(recipe), y: y(cell.mean) }));
    const path = linePath(points.map((point) => [point.x, point.y]));
    return [
      svg('path', { d: path, fill: 'none', ...strokeOf(style) }),
      points.map((point) => [intervalLine(point, y, style), meanMark(point, name, style)]),
    ];
  };
  const label = `Accuracy against labels per class on ${dataset}`;
  return svg('svg', { width, height, role: 'img', 'aria-label': label }, grid, recipes.map(line));
}

// Recipes stand beside each other, so that their intervals do not hide each other.
const aside = (recipe) => (recipe - (recipes.length - 1) / 2) * Math.min(5, 60 / recipes.length);

function intervalLine(point, y, { colour }) {
  if (!point.interval) return null;
  return svgLine(point.x, y(point.interval[0]), point.x, y(point.interval[1]), { stroke: colour });
}

function meanMark(point, name, style) {
  const text = `${name}, ${point.labels} labels per class: ${percent(point.mean)} (${point.values.length} draws)`;
  return svg('g', null, markAt(style, point.x, point.y, 4), svg('title', null, text));
}

function quantile(sorted, share) {
  const place = share * (sorted.length - 1), below = Math.floor(place);
  return sorted[below] + (place - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}

// A box per recipe: quartiles, whiskers to the extremes, every draw as a point.
export function boxPlot([dataset, labels], width) {
  const own = cells.filter((cell) => cell.dataset === dataset && cell.labels === labels)
    .sort((first, second) => second.mean - first.mean);
  const all = own.flatMap((cell) => cell.values), low = Math.min(...all), high = Math.max(...all);
  const margin = (high - low) * .04 || .01, left = Math.min(190, width * .36), height = own.length * ROW_HEIGHT + 44;
  const x = (value) => left + 8 + (value - low + margin) / (high - low + 2 * margin) * (width - left - 30);
  const tick = (value) => [
    svgLine(x(value), 4, x(value), height - 36, { stroke: 'var(--grid)' }),
    svg('text', { x: x(value), y: height - 22, 'text-anchor': 'middle', class: 'soft' }, percent(value, 0)),
  ];
  return svg(
    'svg',
    { width, height, role: 'img', 'aria-label': 'A box per recipe' },
    ticks(low - margin, high + margin, 5).map(tick),
    own.map((cell, row) => boxOf(cell, row, left, x)),
    svg('text', { x: (left + width) / 2, y: height - 4, 'text-anchor': 'middle', class: 'soft' }, 'test accuracy'),
  );
}

function boxOf(cell, row, left, x) {
  const sorted = cell.values.toSorted(ascending), style = styleOf(cell.recipe), name = recipes[cell.recipe];
  const [lower, median, upper] = [.25, .5, .75].map((share) => quantile(sorted, share));
  const y = row * ROW_HEIGHT + 18, ink = { stroke: 'var(--ink)' };
  const text = `${name}: median ${percent(median)}, quartiles ${percent(lower)} and ${percent(upper)}, ` +
    `${sorted.length} draws`;
  const box = { x: x(lower), y: y - 8, width: Math.max(1, x(upper) - x(lower)), height: 16 };
  return svg(
    'g',
    null,
    svg('title', null, text),
    svg('text', { x: left, y: y + 4, 'text-anchor': 'end' }, fitText(name, left - 6)),
    svgLine(x(sorted[0]), y, x(sorted.at(-1)), y, ink),
    svg('rect', { ...box, fill: style.colour, 'fill-opacity': .3, ...ink }),
    svgLine(x(median), y - 8, x(median), y + 8, { ...ink, 'stroke-width': 2.5 }),
    sorted.map((value) => markAt(style, x(value), y, 2.6)),
  );
}

// The share of draws on which one recipe is better than another.
export function winChart({ share, count }, width) {
  return heatMap(share, width, {
    names: recipes,
    rows: 'recipe',
    columns: 'compared with',
    text: (value) => isKnown(value) ? percent(value, 0) : '',
    shade: (value) => isKnown(value) ? value : 0,
    title: (row, column, value) =>
      isKnown(value)
        ? `${recipes[row]} is better than ${recipes[column]} on ${percent(value)} of ${count[row][column]} draws`
        : 'no draw that both have',
  });
}
