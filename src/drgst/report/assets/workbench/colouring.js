// How the points look: one colouring at a time, by class, by number, by column or by role.
import { byId, el } from '../lib/elements.js';
import { ascending, decimal, isKnown, percent } from '../lib/format.js';
import { categorical, CIRCLE, CROSS, HUE, mutedColour, ramp, shapeOf, SQUARE, STAR, TRIANGLE } from '../lib/palette.js';
import { cssColour } from '../lib/theme.js';
import {
  className,
  confidence,
  gainsOfStage,
  informationGain,
  isWrong,
  labelName,
  predicted,
  probabilityOf,
  run,
} from './data.js';
import { state } from './state.js';

export const RAMP_STEPS = 32;
const MAJORITY = 2 / 3; // a group with a larger share of the nodes is muted
const SHOWN_TEXTS = 9; // of a column; the others share a colour
const CLASSES = 12; // up to which the probability of each class is a colouring

// What there is to colour by: {key, title, make}.
function colourings() {
  const classes = run.classCount <= CLASSES ? run.classNames : [];
  return [
    { key: 'prediction', title: 'predicted class', make: () => byClass((node) => predicted(state.stage, node)) },
    { key: 'confidence', title: 'probability of the predicted class', make: byConfidence },
    ...classes.map((name, index) => ({
      key: `p-${index}`,
      title: `probability of ${name}`,
      make: () => numbers((node) => probabilityOf(state.stage, node, index), { low: 0, high: 1, format: percent }),
    })),
    { key: 'uncertainty', title: 'uncertainty', make: byUncertainty },
    { key: 'label', title: 'given label', make: byLabel, always: true },
    ...run.columns.map((column, index) => ({
      key: `column-${index}`,
      title: `column ${column.name}`,
      make: () => byColumn(column),
      always: true,
      show: column.isNumber || column.texts.length <= run.nodeCount / 3,
    })),
    { key: 'class', title: 'true class', make: () => byClass((node) => run.truth[node]), show: run.hasTruth },
    { key: 'right', title: 'right or wrong', make: byCorrectness, show: run.hasTruth },
    { key: 'gain', title: 'information gain', make: byGain, show: run.hasGain },
    { key: 'weight', title: 'weight in training', make: byWeight, show: run.hasPseudoLabels },
    { key: 'entered', title: 'stage first pseudo-labelled', make: byEnteredStage, show: run.hasPseudoLabels },
    { key: 'role', title: 'part of the split', make: byRole },
  ].filter((colouring) => colouring.show !== false && (run.hasModel || colouring.always));
}

// The current colouring: {styles, layers, legend}. A layer is {style, nodes, crowd}: layers are drawn in order, and
// crowd is the number of nodes that compete for the room. The legend is {groups} or {low, high, format, log}.
let current = null, chosenByReader = false;
export const colouring = () => current;
export function keepColouring() {
  chosenByReader = true;
}
export function updateColouring() {
  const menu = byId('colour'), chosen = chosenByReader ? menu.value : '', all = colourings();
  menu.replaceChildren(...all.map(({ key, title }) => el('option', { value: key }, title)));
  const found = all.find(({ key }) => key === chosen) ?? all[0];
  menu.value = found.key;
  current = found.make();
}

const unknownStyle = (name) => ({ name, colour: cssColour('--soft'), shape: CIRCLE, size: .75, hollow: true });

// Nodes of each group, (groups)
function nodesByGroup(groupOf, count) {
  const groups = Array.from({ length: count }, () => []);
  for (let node = 0; node < run.nodeCount; node++) groups[groupOf(node)].push(node);
  return groups;
}

// The rarest group is drawn last, so that it stays in view.
function categories(styles, groupOf) {
  const groups = nodesByGroup(groupOf, styles.length).map((nodes, index) => {
    const muted = nodes.length > MAJORITY * run.nodeCount && !styles[index].hollow;
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
    .map((nodes, step) => ({ style: style(step), nodes, crowd: run.nodeCount }))
    .filter(({ nodes }) => nodes.length);
  return { layers, scale: { low, high, format, log, hasUnknown: layers[0].style.hollow === true } };
}

// A class keeps its colour in every stage. A class that holds most predictions of the result is muted; the others then
// start with the colour that stands out most.
function classHues() {
  const result = Math.max(0, run.shownStages.findIndex((stage) => stage.isResult));
  const counts = new Array(run.classCount).fill(0);
  for (let node = 0; node < run.nodeCount; node++) counts[predicted(result, node)]++;
  const majority = counts.findIndex((count) => count > MAJORITY * run.nodeCount);
  if (majority < 0) return run.classNames.map((_, index) => index);
  const hues = [HUE.orange, HUE.blue];
  const others = (rank) => hues[rank] ?? rank;
  return run.classNames.map((_, index) => index === majority ? -1 : others(index - (index > majority ? 1 : 0)));
}

// The colour of a class, as the map has it.
export function classColour(index) {
  const hue = classHues()[index];
  return hue < 0 ? mutedColour() : categorical(hue);
}

function byClass(classOf) {
  const hues = classHues();
  const styles = run.classNames.map((name, index) => ({
    name,
    colour: hues[index] < 0 ? mutedColour() : categorical(hues[index]),
    shape: shapeOf(index),
    size: 1,
  }));
  styles.push(unknownStyle(className(-1)));
  return categories(styles, (node) => classOf(node) < 0 ? run.classCount : classOf(node));
}

function byCorrectness() {
  const styles = [
    { name: 'right', colour: categorical(HUE.blue), shape: CIRCLE, size: .85 },
    { name: 'wrong', colour: categorical(HUE.orange), shape: CROSS, size: 1.25 },
    unknownStyle('true class not known'),
  ];
  return categories(styles, (node) => run.truth[node] < 0 ? 2 : Number(isWrong(state.stage, node)));
}

// Each text of a column or label has a colour; the rarer ones share one.
function byText(textOf, missing) {
  const counts = new Map();
  for (let node = 0; node < run.nodeCount; node++) {
    const text = textOf(node);
    if (text) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const names = [...counts.keys()].toSorted((first, second) => counts.get(second) - counts.get(first));
  const shown = names.slice(0, SHOWN_TEXTS), places = new Map(shown.map((name, place) => [name, place]));
  const styles = shown.map((name, place) => ({ name, colour: categorical(place), shape: shapeOf(place), size: 1 }));
  if (names.length > shown.length) {
    const name = `${names.length - shown.length} others`;
    styles.push({ name, colour: mutedColour(), shape: CIRCLE, size: .8 });
  }
  const others = shown.length;
  styles.push(unknownStyle(missing));
  return categories(styles, (node) => {
    const text = textOf(node);
    return text ? places.get(text) ?? others : styles.length - 1;
  });
}

const byLabel = () => byText((node) => labelName(node) ?? '', 'no label');

function byColumn(column) {
  if (!column.isNumber) return byText(column.text, 'no value');
  const sorted = Float64Array.from({ length: run.nodeCount }, (_, node) => column.value(node)).filter(isKnown).sort();
  const quantile = (share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return numbers(column.value, { low: quantile(.02), high: quantile(.98), format: decimal });
}

// 1 - Σ p²: the probability that two draws from the predicted classes differ, from the likeliest classes.
function byUncertainty() {
  const value = (node) => {
    let sum = 0;
    for (let index = 0; index < run.classCount && index < CLASSES; index++) {
      sum += probabilityOf(state.stage, node, index) ** 2;
    }
    return Math.max(0, 1 - sum);
  };
  return numbers(value, { low: 0, high: 1 - 1 / run.classCount, format: decimal });
}

function byConfidence() {
  return numbers((node) => confidence(state.stage, node), { low: 1 / run.classCount, high: 1, format: percent });
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
  const { weights } = run.pseudoLabels[state.stage];
  const sorted = weights.filter((weight) => weight >= 0).sort(ascending);
  const high = sorted.length ? Math.max(sorted[Math.floor(.98 * (sorted.length - 1))], 1e-9) : 1;
  return numbers((node) => weights[node], { low: 0, high, format: decimal });
}

function byEnteredStage() {
  const last = Math.max(1, ...run.stages.map((stage) => stage.number));
  const styles = [{ name: 'training label', colour: cssColour('--ink'), shape: STAR, size: 1.2 }];
  for (let number = 1; number <= last; number++) {
    const colour = ramp(last === 1 ? .8 : 1 - .75 * (number - 1) / (last - 1));
    styles.push({ name: `stage ${number}`, colour, shape: shapeOf(number - 1), size: 1 });
  }
  styles.push(unknownStyle('never'));
  return categories(styles, (node) => run.enteredStage[node] < 0 ? last + 1 : run.enteredStage[node]);
}

function byRole() {
  const looks = [[HUE.grey, CIRCLE], [HUE.red, STAR], [HUE.orange, SQUARE], [HUE.blue, TRIANGLE], [HUE.green, CIRCLE]];
  const styles = run.roleNames.map((name, index) => {
    const [hue, shape] = looks[index];
    return { name, colour: categorical(hue), shape, size: shape === STAR ? 1.3 : .9 };
  });
  return categories(styles, (node) => run.role[node]);
}
