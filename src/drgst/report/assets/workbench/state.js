// What the reader has chosen. All that is drawn follows from it.
import { run } from './data.js';

export const VIEWS = ['label', 'map', 'decide', 'review', 'run'];

export const state = {
  view: 'map',
  stage: 0, // a place in shownStages
  node: -1, // whose card is open
  asked: -1, // the node that the reader wants to label
  filter: null, // a mask over the nodes, which all views follow
  filterName: '',
  tool: 'move',
  logGain: false,
  compared: null, // what differs in another run, as the server found it
};

export const currentStage = () => run.shownStages[state.stage];

const watchers = [];

// Calls the function after a change of one of the keys.
export const watch = (keys, call) => watchers.push({ keys, call });

export function change(values) {
  Object.assign(state, values);
  for (const { keys, call } of watchers) if (keys.some((key) => key in values)) call();
}

// Shows the nodes of a mask alone, in all views; null shows all.
export function setFilter(mask, name = '') {
  const any = Boolean(mask) && mask.some((value) => value);
  change({ filter: any ? mask : null, filterName: any ? name : '' });
}

export function maskOf(test) {
  return Uint8Array.from({ length: run.nodeCount }, (_, node) => test(node) ? 1 : 0);
}
