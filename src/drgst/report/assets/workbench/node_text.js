// A node in words: its tooltip, links to its card, its class with a mark.
import { breakable, button, el, svg } from '../lib/elements.js';
import { decimal, percent } from '../lib/format.js';
import { className, classProbabilities, informationGain, isWrong, labelName, run } from './data.js';
import { change, state } from './state.js';

const TOOLTIP_CLASSES = 3;

export const nodeLink = (node) => button(run.nodeIds[node], () => change({ view: 'map', node }), { class: 'link' });

// The class, with a mark where it is known and was hidden from the run.
export function markedClass(label, truth) {
  if (truth < 0) return breakable(className(label));
  const right = label === truth;
  const mark = { class: right ? 'good' : 'bad', title: right ? 'right' : 'wrong' };
  return [el('span', mark, right ? '✓\u00a0' : '✗\u00a0'), breakable(className(label))];
}

// A sentence on what is known of the class of a node.
export function knownText(node) {
  const label = labelName(node);
  if (label !== null) return `labelled ${label}`;
  if (run.truth[node] < 0) return 'no label';
  return `true class ${className(run.truth[node])}${isWrong(state.stage, node) ? ', predicted wrongly' : ''}`;
}

export function nodeTooltip(node) {
  const line = ([index, probability]) => el('div', null, `${percent(probability)} ${className(index)}`);
  const likely = run.hasModel ? classProbabilities(state.stage, node, TOOLTIP_CLASSES).map(line) : [];
  return [
    el('strong', null, run.nodeIds[node]),
    el('div', null, knownText(node)),
    ...likely,
    run.hasGain ? el('div', null, `gain ${decimal(informationGain(state.stage, node))}`) : null,
  ];
}

export const shareBar = (share, colour = 'var(--accent)') =>
  svg(
    'svg',
    { class: 'bar', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('rect', { width: 100, height: 10, fill: 'var(--grid)' }),
    svg('rect', { width: 100 * share, height: 10, fill: colour }),
  );
