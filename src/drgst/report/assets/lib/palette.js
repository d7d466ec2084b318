// Colours and shapes of points and lines. Colour and shape together identify a class, so neither is needed alone.
import { theme } from './theme.js';

export const CIRCLE = 'M-1,0A1,1 0 1,1 1,0A1,1 0 1,1 -1,0Z';
export const SQUARE = 'M-.9,-.9H.9V.9H-.9Z';
export const TRIANGLE = 'M0,-1.2L1.1,.8H-1.1Z';
export const CROSS =
  'M-.65,-1.2L0,-.55L.65,-1.2L1.2,-.65L.55,0L1.2,.65L.65,1.2L0,.55L-.65,1.2L-1.2,.65L-.55,0L-1.2,-.65Z';
export const STAR = 'M0,-1.5L.42,-.5L1.43,-.46L.64,.18L.9,1.2L0,.62L-.9,1.2L-.64,.18L-1.43,-.46L-.42,-.5Z';
const DIAMOND = 'M0,-1.3L1.2,0L0,1.3L-1.2,0Z';
const PLUS = 'M-.4,-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z';
const TRIANGLE_DOWN = 'M0,1.2L1.1,-.8H-1.1Z';
const PENTAGON = 'M0,-1.15L1.1,-.36L.68,.93H-.68L-1.1,-.36Z';
const BAR = 'M-1.2,-.5H1.2V.5H-1.2Z';
const SHAPES = [CIRCLE, SQUARE, TRIANGLE, DIAMOND, PLUS, TRIANGLE_DOWN, CROSS, PENTAGON, BAR];

const CATEGORICAL = {
  light: ['#1f6fb4', '#d95f0e', '#238b45', '#b5259a', '#8a6d00', '#00868b', '#c22f2f', '#6a51a3', '#5f6b75', '#7f3b08'],
  dark: ['#6cb2ff', '#ff9d4d', '#5fd38d', '#f087dc', '#e0c341', '#45d0d4', '#ff8585', '#b7a3f5', '#b3bec9', '#d9a06b'],
};
// Lightness alone orders the steps, so the ramps can be read without colour vision.
const RAMPS = {
  light: ['#d3dce6', '#a9c6dd', '#74a9cf', '#3f83bb', '#21609f', '#103f78', '#081f45'],
  dark: ['#39424e', '#3f5f86', '#3f86b4', '#4cb0bd', '#83d3a4', '#cdec8f', '#fdfbc8'],
};
const MUTED = { light: '#929ca6', dark: '#6d7883' };
// Places of some hues in the categorical palette.
export const HUE = { blue: 0, orange: 1, green: 2, red: 6, grey: 8 };

export const categorical = (index) => CATEGORICAL[theme()][index % CATEGORICAL.light.length];

// For the bulk of the nodes, which must not draw the eye.
export const mutedColour = () => MUTED[theme()];

// Index k and k + 10 share a colour but not a shape.
export const shapeOf = (index) => SHAPES[(index + Math.floor(index / 10)) % SHAPES.length];

// From 0 (low) to 1 (high).
export function ramp(position) {
  const stops = RAMPS[theme()];
  const at = Math.min(Math.max(position, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const channels = (hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
  const from = channels(stops[low]), to = channels(stops[low + 1]);
  return `rgb(${from.map((value, channel) => Math.round(value + (to[channel] - value) * (at - low))).join(' ')})`;
}
