// Class shares and confidence of the labelled, the pseudo-labelled and all nodes.
import { linePath, percentAxis, plane } from '../lib/axes.js';
import { el, svg, svgLine } from '../lib/elements.js';
import { decimal, fitText, percent } from '../lib/format.js';
import { categorical, HUE } from '../lib/palette.js';
import { run } from './data.js';

// Groups differ in pattern and dash as well as in colour.
const GROUPS = [
  { key: 'labelled', name: 'labelled', hue: HUE.blue, dash: null, pattern: 'solid' },
  { key: 'pseudoLabelled', name: 'pseudo-labelled', hue: HUE.orange, dash: '7 4', pattern: 'hatch' },
  { key: 'all', name: 'all, predicted class', hue: HUE.green, dash: '2 3', pattern: 'dots' },
  { key: 'truth', name: 'all, true class', hue: HUE.grey, dash: null, pattern: 'empty' },
];
const BAR_HEIGHT = 11;
const colourOf = (group) => categorical(group.hue);

function patternOf(group, prefix) {
  const colour = colourOf(group), id = `${prefix}-${group.key}`;
  const tile = (fill, opacity) => svg('rect', { width: 6, height: 6, fill, 'fill-opacity': opacity });
  const contents = {
    solid: [tile(colour, 1)],
    empty: [tile('none', 1)],
    hatch: [tile(colour, .25), svg('rect', { width: 3, height: 6, fill: colour })],
    dots: [tile(colour, .25), svg('circle', { cx: 3, cy: 3, r: 1.7, fill: colour })],
  };
  const turn = group.pattern === 'hatch' ? 'rotate(45)' : null;
  const box = { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: turn };
  return svg('pattern', box, contents[group.pattern]);
}

const patterns = (groups, prefix) => svg('defs', null, groups.map((group) => patternOf(group, prefix)));

const legendOf = (groups, markOf) =>
  el('div', { class: 'legend' }, groups.map((group) => el('span', { class: 'tag' }, markOf(group), ` ${group.name}`)));

function barMark(group) {
  const paint = { fill: `url(#share-key-${group.key})`, stroke: colourOf(group) };
  return svg(
    'svg',
    { width: 22, height: 12, 'aria-hidden': 'true' },
    patterns([group], 'share-key'),
    svg('rect', { x: 1, y: 1, width: 20, height: 10, ...paint }),
  );
}

const lineMark = (group) =>
  svg('svg', { width: 26, height: 12, 'aria-hidden': 'true' }, svgLine(0, 6, 26, 6, strokeOf(group, 2.5)));

const strokeOf = (group, width) => ({
  stroke: colourOf(group),
  'stroke-width': width,
  'stroke-dasharray': group.dash,
});

export function classShareChart(shares, width) {
  const groups = GROUPS.filter((group) => shares[group.key]);
  const rowHeight = groups.length * (BAR_HEIGHT + 1) + 12;
  const longest = Math.max(...run.classNames.map((name) => name.length));
  const left = Math.min(190, width * .42, 7 * longest + 20), room = width - left - 48;
  const most = Math.max(.01, ...groups.flatMap((group) => shares[group.key]));
  const bar = (group, index, place) => {
    const share = shares[group.key][index], length = share / most * room;
    const y = index * rowHeight + 6 + place * (BAR_HEIGHT + 1);
    const box = { x: left, y, width: Math.max(length, .5), height: BAR_HEIGHT };
    const paint = { fill: `url(#share-${group.key})`, stroke: colourOf(group) };
    return [
      svg(
        'rect',
        { ...box, ...paint },
        svg('title', null, `${run.classNames[index]}, ${group.name}: ${percent(share)}`),
      ),
      svg('text', { x: left + length + 5, y: y + BAR_HEIGHT - 1, class: 'soft tiny' }, percent(share)),
    ];
  };
  const row = (name, index) => [
    svg(
      'text',
      { x: left - 8, y: (index + .5) * rowHeight + 3, 'text-anchor': 'end' },
      fitText(name, left - 12),
      svg('title', null, name),
    ),
    groups.map((group, place) => bar(group, index, place)),
  ];
  const label = 'Class shares of labelled, pseudo-labelled and all nodes';
  return [
    legendOf(groups, barMark),
    svg(
      'svg',
      { width, height: run.classNames.length * rowHeight + 6, role: 'img', 'aria-label': label },
      patterns(groups, 'share'),
      run.classNames.map(row),
    ),
  ];
}

export function confidenceChart(shares, width) {
  const groups = GROUPS.filter((group) => shares[group.key]), bins = shares.all.length, height = 270;
  const most = Math.max(...groups.flatMap((group) => shares[group.key]));
  const { x, y, box, grid } = plane(
    width,
    height,
    percentAxis(0, 1, 'confidence'),
    percentAxis(0, most, 'share of nodes'),
  );
  const steps = (group) => {
    const points = shares[group.key].flatMap((share, bin) => [
      [x(bin / bins), y(share)],
      [x((bin + 1) / bins), y(share)],
    ]);
    return svg('path', { d: linePath(points), fill: 'none', ...strokeOf(group, 2.2) });
  };
  const mark = !run.hasThreshold ? null : [
    svgLine(x(run.threshold), box.top, x(run.threshold), box.bottom, {
      stroke: 'var(--ink)',
      'stroke-dasharray': '6 4',
    }),
    svg(
      'text',
      { x: x(run.threshold) - 4, y: box.top + 10, 'text-anchor': 'end' },
      `threshold ${decimal(run.threshold)}`,
    ),
  ];
  const label = 'Confidence of labelled, pseudo-labelled and all nodes';
  return [
    legendOf(groups, lineMark),
    svg('svg', { width, height, role: 'img', 'aria-label': label }, grid, groups.map(steps), mark),
  ];
}
