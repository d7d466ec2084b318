// Positions and axes of the diagram of confidence against information gain.
import { ticks } from '../lib/axes.js';
import { decimal, percent } from '../lib/format.js';
import { confidence, informationGain, run } from './data.js';
import { state } from './state.js';

const DECADES = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1]; // of the largest gain, on a log scale
const lowestConfidence = () => Math.max(0, Math.floor(10 / run.classCount) / 10);

const across = (share) => (share - lowestConfidence()) / (1 - lowestConfidence());

function up(gain) {
  if (!state.logGain) return gain / run.largestGain;
  const smallestGain = run.largestGain * DECADES[0];
  return Math.log(Math.max(gain, smallestGain) / smallestGain) / Math.log(run.largestGain / smallestGain);
}

let cached = { key: '', positions: null };

export function gainPositions() {
  const key = `${run.fit} ${state.stage} ${state.logGain}`;
  if (key !== cached.key) {
    const x = new Float32Array(run.nodeCount), y = new Float32Array(run.nodeCount);
    for (let node = 0; node < run.nodeCount; node++) {
      x[node] = across(confidence(state.stage, node));
      y[node] = 1 - up(informationGain(state.stage, node));
    }
    cached = { key, positions: { x, y } };
  }
  return cached.positions;
}

export function gainAxes() {
  const gains = state.logGain ? DECADES.map((decade) => decade * run.largestGain) : ticks(0, run.largestGain);
  return {
    x: ticks(lowestConfidence(), 1, 5).map((value) => [across(value), percent(value, 0)]),
    y: gains.map((gain) => [1 - up(gain), decimal(gain, 2)]),
    xTitle: 'confidence',
    yTitle: 'information gain',
    lines: run.hasThreshold ? [[across(run.threshold), `threshold ${decimal(run.threshold)}`]] : [],
  };
}
