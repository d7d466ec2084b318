// Loss against epochs, a diagram per training.
import { linePath, plane, ticks } from '../lib/axes.js';
import { el, hint, responsive, svg, svgLine } from '../lib/elements.js';
import { ascending, capitalised, decimal, integer, isKnown } from '../lib/format.js';
import { categorical, HUE } from '../lib/palette.js';
import { run } from './data.js';

const curvesOf = () =>
  run.shownStages.flatMap((stage) =>
    stage.trainings.map((training, place) => {
      const which = stage.trainings.length > 1 ? `, training ${place + 1} of ${stage.trainings.length}` : '';
      return { training, title: `${capitalised(stage.name)}${which}` };
    })
  ).filter(({ training }) => training.at.length);

// All diagrams share a scale. Single very high losses at the start are cut off.
export function trainingSection() {
  const curves = curvesOf();
  if (!curves.length) return null;
  const losses = curves.flatMap(({ training }) => [...training.train, ...training.val]).filter(isKnown).sort(ascending);
  const most = losses.length ? losses[Math.floor(.995 * (losses.length - 1))] * 1.05 || 1 : 1;
  const one = ({ training, title }) => {
    const chart = el('div', { class: 'chart' });
    responsive(chart, (width) => curveChart(training, most, width));
    const text = `${integer(training.epochs)} epochs: ${training.reason}`;
    return el('figure', null, el('figcaption', null, title), chart, hint(text));
  };
  return [
    hint('Solid: training loss. Dashed: validation loss. Vertical line: the epoch whose weights were kept.'),
    el('div', { id: 'curves', class: 'many' }, curves.map(one)),
  ];
}

function curveChart(training, most, width) {
  const height = 190, last = Math.max(1, training.epochs);
  const epochTicks = ticks(0, last).map((epoch) => [epoch, integer(epoch)]);
  const lossTicks = ticks(0, most).map((loss) => [loss, decimal(loss)]);
  const { x, y, box, grid } = plane(
    width,
    height,
    { from: 0, to: last, ticks: epochTicks, title: 'epoch' },
    { from: 0, to: most, ticks: lossTicks, title: 'loss' },
  );
  const curve = (losses, hue, dash) => {
    const points = losses.flatMap((loss, place) =>
      isKnown(loss) ? [[x(training.at[place]), y(Math.min(loss, most))]] : []
    );
    const stroke = { stroke: categorical(hue), 'stroke-width': 1.7, 'stroke-dasharray': dash };
    return svg('path', { d: linePath(points), fill: 'none', ...stroke });
  };
  const best = x(training.best_epoch);
  const kept = training.best_epoch > 0 ? svgLine(best, box.top, best, box.bottom, { stroke: 'var(--ink)' }) : null;
  if (kept) kept.append(svg('title', null, `epoch ${training.best_epoch}`));
  return svg(
    'svg',
    { width, height, role: 'img', 'aria-label': 'Training and validation loss' },
    grid,
    kept,
    curve(training.train, HUE.blue, null),
    curve(training.val, HUE.orange, '5 3'),
  );
}
