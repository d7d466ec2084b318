// Words of the method with one line each: on hover where they occur, and as a list in the view Run.
import { el } from '../lib/elements.js';

const WORDS = {
  stage: 'One round of training. The teacher is trained on the given labels; each later stage also on pseudo-labels.',
  teacher: 'The first model: it is trained on the given labels alone.',
  'pseudo-label': 'A label that the model of one stage predicted and the next stage is trained on.',
  'out-of-fold': 'Predicted by a model that was not given this label: each label is left out once.',
  confidence: 'The probability of the predicted class.',
  calibration: 'How well stated probabilities agree with the truth: of nodes stated as 80%, 80% should be right.',
  'information gain':
    'How much the label of a node would tell about the model: high where the model is unsure of itself.',
  shift: 'How much the labelled and pseudo-labelled nodes differ from all nodes that the model is used on.',
  'transition matrix': 'How often a node of one class gets the pseudo-label of another; it corrects the training.',
  epoch: 'One pass of the training of a network over its labels.',
  precision: 'Of the nodes that are flagged, the share that is of the class.',
  recall: 'Of the nodes of the class, the share that is flagged.',
  prior: 'The share of a class among all nodes that was stated for the run.',
};

export const term = (word, shown = word) => el('abbr', { title: WORDS[word], tabindex: 0 }, shown);

export const glossary = () =>
  el(
    'dl',
    { class: 'glossary' },
    Object.entries(WORDS).map(([word, text]) => [el('dt', null, word), el('dd', null, text)]),
  );
