// What the reader has chosen. All that is drawn follows from it.
import { shownStages } from './run_data.js';

export const state = {
  stage: Math.max(0, shownStages.findIndex((stage) => stage.isResult)), // a place in shownStages
  node: -1, // whose card is open
  selected: null, // a mask over the nodes
  selectionName: '',
  tool: 'move',
  logGain: false,
};

export const currentStage = () => shownStages[state.stage];

const watchers = [];

// Calls the function after a change of one of the keys.
export const watch = (keys, call) => watchers.push({ keys, call });

export function change(values) {
  Object.assign(state, values);
  for (const { keys, call } of watchers) if (keys.some((key) => key in values)) call();
}
