// The legend of the current colouring. An entry selects its nodes.
import { byId, el, svg } from '../lib/elements.js';
import { integer } from '../lib/format.js';
import { ramp } from '../lib/palette.js';
import { colouring, RAMP_STEPS } from './colouring.js';
import { run } from './data.js';
import { setFilter, state } from './state.js';

export function drawLegend() {
  const { groups, scale } = colouring();
  byId('legend').replaceChildren(...(groups ? groups.map(groupEntry) : [scaleEntry(scale)]));
}

function groupEntry({ style, nodes }) {
  const pressed = state.filterName === style.name;
  const onclick = () => {
    const mask = new Uint8Array(run.nodeCount);
    for (const node of nodes) mask[node] = 1;
    if (pressed) setFilter(null);
    else setFilter(mask, style.name);
  };
  return el(
    'button',
    { type: 'button', 'aria-pressed': String(pressed), onclick },
    styleMark(style),
    el('span', null, style.name),
    el('span', { class: 'count' }, integer(nodes.length)),
  );
}

function styleMark({ shape, colour, hollow }) {
  const paint = hollow ? { fill: 'none', stroke: colour, 'stroke-width': .25 } : { fill: colour };
  const box = { width: 15, height: 15, viewBox: '-1.8 -1.8 3.6 3.6', 'aria-hidden': 'true' };
  return svg('svg', box, svg('path', { d: shape, ...paint }));
}

function scaleEntry({ low, high, format, log, hasUnknown }) {
  const step = (_, index) =>
    svg('rect', { x: index * 5, y: 0, width: 5.5, height: 12, fill: ramp(index / (RAMP_STEPS - 1)) });
  const remarks = [
    log ? 'log scale' : null,
    'larger points are higher',
    hasUnknown ? 'hollow points have no value' : null,
  ];
  return el(
    'div',
    { class: 'scale' },
    el('span', null, format(low)),
    svg('svg', { width: 160, height: 12, 'aria-hidden': 'true' }, Array.from({ length: RAMP_STEPS }, step)),
    el('span', null, format(high)),
    el('span', { class: 'count' }, remarks.filter(Boolean).join('; ')),
  );
}
