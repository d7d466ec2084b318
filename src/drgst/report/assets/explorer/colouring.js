// How the points look: one colouring at a time, by class, by number or by role.
import { byId } from '../lib/elements.js';
import { ascending, decimal, isKnown, percent } from '../lib/format.js';
import { categorical, CIRCLE, CROSS, HUE, mutedColour, ramp, shapeOf, SQUARE, STAR, TRIANGLE } from '../lib/palette.js';
import { cssColour } from '../lib/theme.js';
import {
  classCount,
  className,
  classNames,
  confidence,
  enteredStage,
  gainsOfStage,
  hasGain,
  hasPseudoLabels,
  hasTruth,
  informationGain,
  isWrong,
  nodeCount,
  predicted,
  pseudoLabels,
  role,
  roleNames,
  shownStages,
  stages,
  trueClass,
} from './run_data.js';
import { state } from './state.js';

export const RAMP_STEPS = 32;
const MAJORITY = 2 / 3; // a group with a larger share of the nodes is muted

export const COLOURINGS = [
  { key: 'prediction', title: 'prediction', make: () => byClass((node) => predicted(state.stage, node)) },
  { key: 'class', title: 'true class', make: () => byClass((node) => trueClass[node]), show: hasTruth },
  { key: 'right', title: 'right or wrong', make: byCorrectness, show: hasTruth },
  { key: 'confidence', title: 'confidence', make: byConfidence },
  { key: 'gain', title: 'information gain', make: byGain, show: hasGain },
  { key: 'weight', title: 'weight in training', make: byWeight, show: hasPseudoLabels },
  { key: 'entered', title: 'stage first pseudo-labelled', make: byEnteredStage, show: hasPseudoLabels },
  { key: 'role', title: 'part of the split', make: byRole },
].filter((colouring) => colouring.show !== false);

// The current colouring: {styles, layers, legend}. A layer is {style, nodes, crowd}: layers are drawn in order, and
// crowd is the number of nodes that compete for the room. The legend is {groups} or {low, high, format, log}.
let current = null;
export const colouring = () => current;
export function updateColouring() {
  current = COLOURINGS.find(({ key }) => key === byId('colour').value).make();
}

const unknownStyle = (name) => ({ name, colour: cssColour('--soft'), shape: CIRCLE, size: .75, hollow: true });

// Nodes of each group, (groups)
function nodesByGroup(groupOf, count) {
  const groups = Array.from({ length: count }, () => []);
  for (let node = 0; node < nodeCount; node++) groups[groupOf(node)].push(node);
  return groups;
}

// The rarest group is drawn last, so that it stays in view.
function categories(styles, groupOf) {
  const groups = nodesByGroup(groupOf, styles.length).map((nodes, index) => {
    const muted = nodes.length > MAJORITY * nodeCount && !styles[index].hollow;
    const style = muted ? { ...styles[index], colour: mutedColour() } : styles[index];
    return { style, nodes, crowd: nodes.length };
  }).filter(({ nodes }) => nodes.length);
  return { layers: groups.toSorted((first, second) => second.crowd - first.crowd), groups };
}

// The highest values are drawn last. Nodes without a value are drawn first.
function numbers(valueOf, { low, high, format, log = false }) {
  const position = (value) =>
    log ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / (high - low || 1);
  const stepOf = (node) => {
    const value = valueOf(node);
    if (!isKnown(value)) return 0;
    return 1 + Math.round(Math.min(Math.max(position(value), 0), 1) * (RAMP_STEPS - 1));
  };
  const style = (step) => {
    const share = (step - 1) / (RAMP_STEPS - 1);
    return step ? { colour: ramp(share), shape: CIRCLE, size: .7 + .6 * share } : unknownStyle('none');
  };
  const layers = nodesByGroup(stepOf, RAMP_STEPS + 1)
    .map((nodes, step) => ({ style: style(step), nodes, crowd: nodeCount }))
    .filter(({ nodes }) => nodes.length);
  return { layers, scale: { low, high, format, log, hasUnknown: layers[0].style.hollow === true } };
}

// A class keeps its colour in every stage. A class that holds most predictions of the result is muted; the others then
// start with the colour that stands out most.
const classHues = (() => {
  const result = Math.max(0, shownStages.findIndex((stage) => stage.isResult));
  const counts = new Array(classCount).fill(0);
  for (let node = 0; node < nodeCount; node++) counts[predicted(result, node)]++;
  const majority = counts.findIndex((count) => count > MAJORITY * nodeCount);
  if (majority < 0) return classNames.map((_, index) => index);
  const hues = [HUE.orange, HUE.blue];
  const others = (rank) => hues[rank] ?? rank;
  return classNames.map((_, index) => index === majority ? -1 : others(index - (index > majority ? 1 : 0)));
})();

function byClass(classOf) {
  const styles = classNames.map((name, index) => ({
    name,
    colour: classHues[index] < 0 ? mutedColour() : categorical(classHues[index]),
    shape: shapeOf(index),
    size: 1,
  }));
  styles.push(unknownStyle(className(-1)));
  return categories(styles, (node) => classOf(node) < 0 ? classCount : classOf(node));
}

function byCorrectness() {
  const styles = [
    { name: 'right', colour: categorical(HUE.blue), shape: CIRCLE, size: .85 },
    { name: 'wrong', colour: categorical(HUE.orange), shape: CROSS, size: 1.25 },
    unknownStyle('true class not known'),
  ];
  return categories(styles, (node) => trueClass[node] < 0 ? 2 : Number(isWrong(state.stage, node)));
}

function byConfidence() {
  return numbers((node) => confidence(state.stage, node), { low: 1 / classCount, high: 1, format: percent });
}

function byGain() {
  const sorted = gainsOfStage(state.stage).filter((gain) => gain > 0).sort(ascending);
  const quantile = (share) => sorted[Math.floor(share * (sorted.length - 1))] || 1e-9;
  const low = Math.max(quantile(.05), quantile(.99) / 1e5);
  return numbers((node) => informationGain(state.stage, node), {
    low,
    high: quantile(.99),
    format: decimal,
    log: true,
  });
}

function byWeight() {
  const { weights } = pseudoLabels[state.stage];
  const sorted = weights.filter((weight) => weight >= 0).sort(ascending);
  const high = sorted.length ? Math.max(sorted[Math.floor(.98 * (sorted.length - 1))], 1e-9) : 1;
  return numbers((node) => weights[node], { low: 0, high, format: decimal });
}

function byEnteredStage() {
  const last = Math.max(1, ...stages.map((stage) => stage.number));
  const styles = [{ name: 'training label', colour: cssColour('--ink'), shape: STAR, size: 1.2 }];
  for (let number = 1; number <= last; number++) {
    const colour = ramp(last === 1 ? .8 : 1 - .75 * (number - 1) / (last - 1));
    styles.push({ name: `stage ${number}`, colour, shape: shapeOf(number - 1), size: 1 });
  }
  styles.push(unknownStyle('never'));
  return categories(styles, (node) => enteredStage[node] < 0 ? last + 1 : enteredStage[node]);
}

function byRole() {
  const looks = [[HUE.grey, CIRCLE], [HUE.red, STAR], [HUE.orange, SQUARE], [HUE.blue, TRIANGLE], [HUE.green, CIRCLE]];
  const styles = roleNames.map((name, index) => {
    const [hue, shape] = looks[index];
    return { name, colour: categorical(hue), shape, size: shape === STAR ? 1.3 : .9 };
  });
  return categories(styles, (node) => role[node]);
}
