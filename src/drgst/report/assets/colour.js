// What a point looks like: colour and shape together, so that neither is needed alone.
const SHAPES = [
  'M-1,0A1,1 0 1,1 1,0A1,1 0 1,1 -1,0Z', // circle
  'M-.9,-.9H.9V.9H-.9Z', // square
  'M0,-1.2L1.1,.8H-1.1Z', // triangle
  'M0,-1.3L1.2,0L0,1.3L-1.2,0Z', // diamond
  'M-.4,-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z', // plus
  'M0,1.2L1.1,-.8H-1.1Z', // triangle down
  'M-.65,-1.2L0,-.55L.65,-1.2L1.2,-.65L.55,0L1.2,.65L.65,1.2L0,.55L-.65,1.2L-1.2,.65L-.55,0L-1.2,-.65Z', // cross
  'M0,-1.15L1.1,-.36L.68,.93H-.68L-1.1,-.36Z', // pentagon
  'M-1.2,-.5H1.2V.5H-1.2Z', // bar
];
const STAR = 'M0,-1.5L.42,-.5L1.43,-.46L.64,.18L.9,1.2L0,.62L-.9,1.2L-.64,.18L-1.43,-.46L-.42,-.5Z';
const CROSS = SHAPES[6], CIRCLE = SHAPES[0];
const PALETTES = {
  light: ['#1f6fb4', '#d95f0e', '#238b45', '#b5259a', '#8a6d00', '#00868b', '#c22f2f', '#6a51a3', '#5f6b75', '#7f3b08'],
  dark: ['#6cb2ff', '#ff9d4d', '#5fd38d', '#f087dc', '#e0c341', '#45d0d4', '#ff8585', '#b7a3f5', '#b3bec9', '#d9a06b'],
};
const RAMPS = { // by lightness alone they can be read too
  light: ['#d3dce6', '#a9c6dd', '#74a9cf', '#3f83bb', '#21609f', '#103f78', '#081f45'],
  dark: ['#39424e', '#3f5f86', '#3f86b4', '#4cb0bd', '#83d3a4', '#cdec8f', '#fdfbc8'],
};
const STEPS = 32;
let theme = 'light';

function ramp(t) {
  const stops = RAMPS[theme], at = Math.min(Math.max(t, 0), 1) * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2);
  const part = hex => [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16));
  const a = part(stops[low]), b = part(stops[low + 1]);
  return `rgb(${a.map((v, k) => Math.round(v + (b[k] - v) * (at - low))).join(' ')})`;
}
const classLook = k => ({name: className(k), colour: PALETTES[theme][k % 10], shape: SHAPES[(k + Math.floor(k / 10)) % SHAPES.length], size: 1});
const blank = name => ({name, colour: colourOf('--soft'), shape: CIRCLE, size: .75, hollow: true});

// Each way of colouring: {items, of(i)} for kinds, {low, high, of(i)} for numbers.
const WAYS = {
  prediction: ['prediction', () => byClass(i => predicted(state.stage, i))],
  class: ['class (true label)', () => byClass(i => truth[i]), () => HAS_TRUTH],
  right: ['right or wrong', byRight, () => HAS_TRUTH],
  confidence: ['confidence', () => byNumber(i => confidence(state.stage, i), 1 / C, 1, percent)],
  gain: ['information gain', byGain, () => HAS_GAIN],
  weight: ['weight in training', byWeight, () => HAS_TRUSTED],
  entered: ['stage entered', byEntered, () => HAS_TRUSTED],
  role: ['part of the split', byRole],
};

function byClass(of) {
  const items = D.classes.map((_, k) => classLook(k));
  items.push(blank('not known'));
  return {items, of: i => { const k = of(i); return k < 0 ? C : k; }};
}
function byRight() {
  const items = [
    {name: 'right', colour: PALETTES[theme][0], shape: CIRCLE, size: .85},
    {name: 'wrong', colour: PALETTES[theme][1], shape: CROSS, size: 1.25},
    blank('truth not known'),
  ];
  return {items, of: i => truth[i] < 0 ? 2 : wrong(state.stage, i) ? 1 : 0};
}
function byNumber(of, low, high, format, log) { return {of, low, high, format, log}; }
function byGain() {
  const seen = Array.from(gains.subarray(state.stage * N, (state.stage + 1) * N)).filter(v => v > 0).sort((a, b) => a - b);
  const at = share_ => seen[Math.floor(share_ * (seen.length - 1))] || 1e-9;
  return byNumber(i => gain(state.stage, i), Math.max(at(.05), at(.99) / 1e5), at(.99), figure, true);
}
function byWeight() {
  const weights = trustedWeight[state.stage], seen = Array.from(weights).filter(v => v >= 0).sort((a, b) => a - b);
  return byNumber(i => weights[i], 0, seen.length ? Math.max(seen[Math.floor(.98 * (seen.length - 1))], 1e-9) : 1, figure);
}
function byEntered() {
  const last = Math.max(1, ...D.stages.map(stage => stage.stage)), items = [{name: 'labelled from the start', colour: colourOf('--ink'), shape: STAR, size: 1.2}];
  for (let k = 1; k <= last; k++) items.push({name: `stage ${k}`, colour: ramp(last === 1 ? .8 : 1 - .75 * (k - 1) / (last - 1)), shape: SHAPES[(k - 1) % SHAPES.length], size: 1});
  items.push(blank('never trusted'));
  return {items, of: i => entered[i] < 0 ? last + 1 : entered[i]};
}
function byRole() {
  const looks = [[8, CIRCLE], [6, STAR], [1, SHAPES[1]], [0, SHAPES[2]], [2, CIRCLE]];
  return {items: D.roles.map((name, k) => ({name, colour: PALETTES[theme][looks[k][0]], shape: looks[k][1], size: k === 1 ? 1.3 : .9})), of: i => role[i]};
}

let way = null; // the current way, made anew when stage, colour or theme changes
function position(way_, value) {
  if (!known(value)) return NaN;
  const t = way_.log ? Math.log(Math.max(value, way_.low) / way_.low) / Math.log(way_.high / way_.low) : (value - way_.low) / (way_.high - way_.low || 1);
  return Math.min(Math.max(t, 0), 1);
}
const numberLooks = new Map();
function look(i) {
  if (way.items) return way.items[way.of(i)];
  const t = position(way, way.of(i)), step = Number.isNaN(t) ? -1 : Math.round(t * (STEPS - 1));
  if (!numberLooks.has(step)) numberLooks.set(step, step < 0 ? blank('none') : {colour: ramp(step / (STEPS - 1)), shape: CIRCLE, size: .7 + .6 * step / (STEPS - 1)});
  return numberLooks.get(step);
}
function remakeWay() {
  numberLooks.clear();
  way = WAYS[$('colour').value][1]();
}
