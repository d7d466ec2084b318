// Accuracy against confidence, in bins.
import { percentAxis, plane } from '../lib/axes.js';
import { svg, svgLine } from '../lib/elements.js';
import { integer, percent } from '../lib/format.js';

export function reliabilityChart(data, width) {
  const height = 290, bins = data.count.length, most = Math.max(...data.count);
  const { x, y, box, grid } = plane(
    width,
    height,
    percentAxis(0, 1, 'confidence', 5),
    percentAxis(0, 1, 'accuracy', 5),
  );
  const bar = (count, bin) => {
    if (!count) return null;
    const accuracy = data.accuracy[bin], confidence = data.confidence[bin];
    const low = Math.min(accuracy, confidence), high = Math.max(accuracy, confidence);
    const place = { x: x(bin / bins) + 1, width: (box.right - box.left) / bins - 2 };
    const paint = { fill: 'var(--accent)', 'fill-opacity': .25 + .75 * Math.sqrt(count / most) };
    const text = `${integer(count)} nodes: confidence ${percent(confidence)}, accuracy ${percent(accuracy)}`;
    const gap = { y: y(high), height: Math.max(1, y(low) - y(high)), stroke: 'var(--bad)', 'stroke-dasharray': '2 2' };
    return [
      svg('rect', { ...place, y: y(accuracy), height: y(0) - y(accuracy), ...paint }, svg('title', null, text)),
      svg('rect', { ...place, ...gap, fill: 'none' }),
    ];
  };
  return svg(
    'svg',
    { width, height, role: 'img', 'aria-label': `Reliability diagram, ECE ${percent(data.ece)}` },
    grid,
    data.count.map(bar),
    svgLine(x(0), y(0), x(1), y(1), { stroke: 'var(--ink)', 'stroke-width': 1.5 }),
  );
}
