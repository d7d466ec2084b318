// How far the work is: labels per class, accuracy against the number of labels, and what more labels would bring.
import { linePath, percentAxis, plane, ticks } from '../lib/axes.js';
import { breakable, button, el, hint, responsive, svg, svgLine } from '../lib/elements.js';
import { counted, integer, isKnown, percent } from '../lib/format.js';
import { categorical, HUE } from '../lib/palette.js';
import { ask, work } from './live.js';
import { shareBar } from './node_text.js';

const FEW = 10; // labels that the axis shows, at least

export function progressPanel(say) {
  const counts = work.classes.map((_, index) => work.labelled.filter(([, label]) => label === index).length);
  const most = Math.max(1, ...counts);
  const line = (name, index) =>
    el(
      'div',
      { class: 'share' },
      el('span', { class: 'name' }, breakable(name)),
      shareBar(counts[index] / most),
      el('span', { class: 'figure' }, integer(counts[index])),
    );
  const post = (name) => () => ask(name, {}).catch((error) => say(error.message));
  return [
    el('h3', { id: 'label-count' }, `${counted(work.labelled.length, 'label')} of yours`),
    work.classes.map(line),
    work.curve.length ? [el('h3', null, 'Accuracy by number of labels'), curveFigure()] : [],
    caution(),
    el(
      'p',
      { class: 'buttons' },
      button('What would more labels bring?', post('forecast'), { disabled: !work.curve.length }),
      button('Save the run', post('save'), { disabled: !work.curve.length }),
    ),
    (work.forecast ?? []).map((text) => el('p', null, text)),
    work.saved ? el('p', null, `Saved in ${work.saved}.`) : null,
    hint(`Every label is in ${work.file} as soon as you give it.`),
  ].flat(2).filter(Boolean);
}

function caution() {
  const last = work.curve.at(-1);
  if (!last?.asked) return null;
  const measured = isKnown(last.oof)
    ? 'The accuracy is that of the labels drawn at random: suggested ones are no sample.'
    : 'The accuracy is not known yet: suggested labels are no sample. ' +
      'It is measured from 10 labels drawn at random on, ' +
      'which are among the suggestions.';
  return hint(measured);
}

// Equal numbers of labels are one point: the last fit counts.
function points() {
  const byCount = new Map(work.curve.map((point) => [point.labels, point]));
  return [...byCount.values()].toSorted((first, second) => first.labels - second.labels);
}

function curveFigure() {
  const chart = el('div', { class: 'chart', id: 'curve' });
  responsive(chart, (width) => curveChart(points(), width));
  return el(
    'figure',
    null,
    chart,
    hint('Solid, with its 95% interval: out-of-fold accuracy. Dashed: the accuracy that the probabilities state.'),
  );
}

function curveChart(all, width) {
  const height = 190, counts = all.map(({ labels }) => labels);
  const from = Math.min(...counts), to = Math.max(...counts, from + FEW);
  const values = all.flatMap(({ low, expected }) => [low, expected]).filter(isKnown);
  const lowest = Math.max(0, Math.floor(10 * Math.min(.9, ...values)) / 10);
  const labelTicks = ticks(from, to).filter(Number.isInteger).map((count) => [count, integer(count)]);
  const { x, y, grid } = plane(
    width,
    height,
    { from, to, ticks: labelTicks, title: 'labels' },
    percentAxis(lowest, 1, 'accuracy'),
  );
  const line = (key, attributes) => {
    const known = all.filter((point) => isKnown(point[key]));
    return svg('path', {
      d: linePath(known.map((point) => [x(point.labels), y(point[key])])),
      fill: 'none',
      ...attributes,
    });
  };
  const held = all.filter(({ low }) => isKnown(low)), blue = categorical(HUE.blue);
  const around = [
    ...held.map((point) => [x(point.labels), y(Math.max(lowest, point.low))]),
    ...held.toReversed().map((point) => [x(point.labels), y(point.high)]),
  ];
  const dots = held.map((point) => [
    svgLine(x(point.labels), y(Math.max(lowest, point.low)), x(point.labels), y(point.high), {
      stroke: blue,
      'stroke-opacity': .5,
    }),
    svg(
      'circle',
      { cx: x(point.labels), cy: y(Math.max(lowest, point.oof)), r: 2.6, fill: blue },
      svg('title', null, `${counted(point.labels, 'label')}: ${percent(point.oof)} of those held out`),
    ),
  ]);
  return svg(
    'svg',
    { width, height, role: 'img', 'aria-label': 'Accuracy against the number of labels' },
    grid,
    svg('path', { d: linePath(around), fill: blue, 'fill-opacity': .14 }),
    line('expected', { stroke: categorical(HUE.orange), 'stroke-width': 1.7, 'stroke-dasharray': '5 3' }),
    line('oof', { stroke: blue, 'stroke-width': 2 }),
    dots,
  );
}
