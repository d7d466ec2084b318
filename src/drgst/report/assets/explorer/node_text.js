// A node in words: its tooltip, links to its card, its class with a mark.
import { breakable, button, el } from '../lib/elements.js';
import { decimal, percent } from '../lib/format.js';
import {
  className,
  classProbabilities,
  enteredStage,
  hasGain,
  informationGain,
  isWrong,
  nodeIds,
  role,
  roleNames,
  trueClass,
} from './run_data.js';
import { change, state } from './state.js';

const TOOLTIP_CLASSES = 3;

export const nodeLink = (node) => button(nodeIds[node], () => change({ node }), { class: 'link' });

// The class, with a mark where the true class is known.
export function markedClass(label, truth) {
  if (truth < 0) return breakable(className(label));
  const right = label === truth;
  const mark = { class: right ? 'good' : 'bad', title: right ? 'right' : 'wrong' };
  return [el('span', mark, right ? '✓\u00a0' : '✗\u00a0'), breakable(className(label))];
}

export function enteredText(node) {
  if (enteredStage[node] < 0) return 'never';
  return enteredStage[node] === 0 ? 'training label' : `stage ${enteredStage[node]}`;
}

export function nodeTooltip(node) {
  const truth = trueClass[node], wrong = isWrong(state.stage, node) ? ', predicted wrongly' : '';
  const label = truth < 0 ? 'label not known' : `label ${className(truth)}${wrong}`;
  const line = ([index, probability]) => el('div', null, `${percent(probability)} ${className(index)}`);
  return [
    el('strong', null, nodeIds[node]),
    el('div', null, `${roleNames[role[node]]} node, ${label}`),
    ...classProbabilities(state.stage, node, TOOLTIP_CLASSES).map(line),
    hasGain ? el('div', null, `gain ${decimal(informationGain(state.stage, node))}`) : null,
  ];
}
