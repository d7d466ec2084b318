// Diagrams in SVG, drawn for the width there is.
const GROUPS = [ // told apart by pattern and dash as well as by colour
  {key: 'labelled', name: 'labelled', look: 0, dash: null, pattern: 'solid'},
  {key: 'trusted', name: 'trusted', look: 1, dash: '7 4', pattern: 'hatch'},
  {key: 'all', name: 'all, as predicted', look: 2, dash: '2 3', pattern: 'dots'},
  {key: 'truth', name: 'all, in truth', look: 8, dash: null, pattern: 'empty'},
];
const groupColour = group => PALETTES[theme][group.look];

function patterns(prefix) {
  const made = group => {
    const colour = groupColour(group), box = {width: 6, height: 6, patternUnits: 'userSpaceOnUse', id: `${prefix}-${group.key}`};
    if (group.pattern === 'hatch') return svg('pattern', {...box, patternTransform: 'rotate(45)'}, svg('rect', {width: 6, height: 6, fill: colour, 'fill-opacity': .25}), svg('rect', {width: 3, height: 6, fill: colour}));
    if (group.pattern === 'dots') return svg('pattern', box, svg('rect', {width: 6, height: 6, fill: colour, 'fill-opacity': .25}), svg('circle', {cx: 3, cy: 3, r: 1.7, fill: colour}));
    return svg('pattern', box, svg('rect', {width: 6, height: 6, fill: group.pattern === 'empty' ? 'none' : colour}));
  };
  return svg('defs', null, GROUPS.map(made));
}
function key(groups, prefix) { // the legend of a diagram
  const mark = group => prefix
    ? svg('svg', {width: 22, height: 12, 'aria-hidden': 'true'}, patterns(`${prefix}key`), svg('rect', {x: 1, y: 1, width: 20, height: 10, fill: `url(#${prefix}key-${group.key})`, stroke: groupColour(group)}))
    : svg('svg', {width: 26, height: 12, 'aria-hidden': 'true'}, svg('line', {x1: 0, x2: 26, y1: 6, y2: 6, stroke: groupColour(group), 'stroke-width': 2.5, 'stroke-dasharray': group.dash}));
  return el('div', {class: 'legend'}, groups.map(group => el('span', {class: 'tag'}, mark(group), ` ${group.name}`)));
}

function shareBars(shares, width) {
  const groups = GROUPS.filter(group => shares[group.key]), bar = 11, row = groups.length * (bar + 1) + 12, left = Math.min(190, width * .42);
  const most = Math.max(.01, ...groups.flatMap(group => shares[group.key])), room = width - left - 48;
  const one = (group, k, at) => {
    const y = k * row + 6 + at * (bar + 1), long = shares[group.key][k] / most * room;
    return [svg('rect', {x: left, y, width: Math.max(long, .5), height: bar, fill: `url(#shares-${group.key})`, stroke: groupColour(group)}, svg('title', null, `${className(k)}, ${group.name}: ${percent(shares[group.key][k])}`)),
      svg('text', {x: left + long + 5, y: y + bar - 1, class: 'soft tiny'}, percent(shares[group.key][k]))];
  };
  const rows = D.classes.map((name, k) => [svg('text', {x: left - 8, y: k * row + row / 2 + 3, 'text-anchor': 'end'}, fit(name, left - 12), svg('title', null, name)), groups.map((group, at) => one(group, k, at))]);
  return [key(groups, 'shares'), svg('svg', {width, height: C * row + 6, role: 'img', 'aria-label': 'Class shares of labelled, trusted and all nodes'}, patterns('shares'), rows)];
}
function fit(words, room, size = 12) { // about as many letters as there is room for
  const most = Math.max(3, Math.floor(room / size / .56));
  return words.length <= most ? words : `${words.slice(0, most - 1)}…`;
}

// axes for an SVG diagram: x and y from numbers to pixels
function plane(width, height, xDomain, yDomain, xTicks, yTicks, xWords, yWords) {
  const box = {left: 54, top: 8, right: width - 22, bottom: height - 40};
  const x = v => box.left + (v - xDomain[0]) / (xDomain[1] - xDomain[0] || 1) * (box.right - box.left);
  const y = v => box.bottom - (v - yDomain[0]) / (yDomain[1] - yDomain[0] || 1) * (box.bottom - box.top);
  const grid = [
    xTicks.map(([at, words]) => [svg('line', {x1: x(at), x2: x(at), y1: box.top, y2: box.bottom, stroke: 'var(--grid)'}), svg('text', {x: x(at), y: box.bottom + 16, 'text-anchor': 'middle', class: 'soft'}, words)]),
    yTicks.map(([at, words]) => [svg('line', {x1: box.left, x2: box.right, y1: y(at), y2: y(at), stroke: 'var(--grid)'}), svg('text', {x: box.left - 6, y: y(at) + 4, 'text-anchor': 'end', class: 'soft'}, words)]),
    svg('text', {x: (box.left + box.right) / 2, y: height - 6, 'text-anchor': 'middle', class: 'soft'}, xWords),
    svg('text', {x: 11, y: (box.top + box.bottom) / 2, 'text-anchor': 'middle', class: 'soft', transform: `rotate(-90 11 ${(box.top + box.bottom) / 2})`}, yWords),
  ];
  return {x, y, box, grid};
}
function ticks(low, high, count = 4) {
  const rough = (high - low) / count || 1, unit = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map(k => k * unit).find(v => v >= rough * .999);
  const made = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-6; at += step) made.push(Number(at.toPrecision(8)));
  return made;
}
const percentTicks = (low, high, count) => ticks(low, high, count).map(v => [v, percent(v, 0)]);
const path = points => points.map(([x, y], at) => `${at ? 'L' : 'M'}${x.toFixed(1)},${y.toFixed(1)}`).join('');

function confidenceLines(shift, width) {
  const groups = GROUPS.filter(group => shift.confidence[group.key]), bins = shift.confidence.all.length;
  const most = Math.max(...groups.flatMap(group => shift.confidence[group.key])), height = 270;
  const p = plane(width, height, [0, 1], [0, most], percentTicks(0, 1), percentTicks(0, most), 'confidence', 'share of nodes');
  const line = group => {
    const points = shift.confidence[group.key].flatMap((v, b) => [[p.x(b / bins), p.y(v)], [p.x((b + 1) / bins), p.y(v)]]);
    return svg('path', {d: path(points), fill: 'none', stroke: groupColour(group), 'stroke-width': 2.2, 'stroke-dasharray': group.dash});
  };
  const bar = known(D.threshold) ? [svg('line', {x1: p.x(D.threshold), x2: p.x(D.threshold), y1: p.box.top, y2: p.box.bottom, stroke: 'var(--ink)', 'stroke-dasharray': '6 4'}), svg('text', {x: p.x(D.threshold) + 4, y: p.box.top + 10}, `threshold ${figure(D.threshold)}`)] : null;
  return [key(groups), svg('svg', {width, height, role: 'img', 'aria-label': 'Confidence of labelled, trusted and all nodes'}, p.grid, groups.map(line), bar)];
}

function reliabilityDiagram(data, width) {
  const height = 290, bins = data.count.length, most = Math.max(...data.count);
  const p = plane(width, height, [0, 1], [0, 1], percentTicks(0, 1, 5), percentTicks(0, 1, 5), 'confidence', 'right in truth');
  const bar = (count, b) => {
    if (!count) return null;
    const x = p.x(b / bins) + 1, wide = (p.box.right - p.box.left) / bins - 2, hit = data.accuracy[b], low = Math.min(hit, data.confidence[b]), high = Math.max(hit, data.confidence[b]);
    return [svg('rect', {x, width: wide, y: p.y(hit), height: p.y(0) - p.y(hit), fill: 'var(--accent)', 'fill-opacity': .25 + .75 * Math.sqrt(count / most)}, svg('title', null, `${whole(count)} nodes: ${percent(data.confidence[b])} sure, ${percent(hit)} right`)),
      svg('rect', {x, width: wide, y: p.y(high), height: Math.max(1, p.y(low) - p.y(high)), fill: 'none', stroke: 'var(--bad)', 'stroke-dasharray': '2 2'})];
  };
  return svg('svg', {width, height, role: 'img', 'aria-label': `Reliability diagram, ECE ${percent(data.ece)}`}, p.grid, data.count.map(bar), svg('line', {x1: p.x(0), y1: p.y(0), x2: p.x(1), y2: p.y(1), stroke: 'var(--ink)', 'stroke-width': 1.5}));
}

function curveDiagram(training, most, width) {
  const height = 190, last = Math.max(1, training.epochs);
  const p = plane(width, height, [0, last], [0, most], ticks(0, last, 4).map(v => [v, whole(v)]), ticks(0, most, 4).map(v => [v, figure(v)]), 'epoch', 'loss');
  const line = (values, dash, look_) => svg('path', {d: path(values.map((v, at) => [p.x(training.at[at]), known(v) ? p.y(Math.min(v, most)) : NaN]).filter(point => known(point[1]))), fill: 'none', stroke: PALETTES[theme][look_], 'stroke-width': 1.7, 'stroke-dasharray': dash});
  const kept = training.best_epoch > 0 ? svg('line', {x1: p.x(training.best_epoch), x2: p.x(training.best_epoch), y1: p.box.top, y2: p.box.bottom, stroke: 'var(--ink)'}, svg('title', null, `epoch ${training.best_epoch}`)) : null;
  return svg('svg', {width, height, role: 'img', 'aria-label': 'Training and validation loss'}, p.grid, kept, line(training.train, null, 0), line(training.val, '5 3', 1));
}
