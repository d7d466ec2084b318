// Words of the method with one line each: on hover where they occur, and as a list in the view Run.
import { el } from '../lib/elements.js';
import { hideTooltip, showTooltip } from '../lib/tooltip.js';

const WORDS = {
  stage: 'One round of training. The teacher is trained on the given labels; each later stage also on pseudo-labels.',
  teacher: 'The first model: it is trained on the given labels alone.',
  'pseudo-label': 'A label that the model of one stage predicted and the next stage is trained on.',
  'out-of-fold': 'Predicted by a model that was not given this label: each label is left out once.',
  confidence: 'The probability of the predicted class.',
  calibration: 'How well stated probabilities agree with the truth: of nodes stated as 80%, 80% should be right.',
  'information gain':
    'How much the label of a node would tell about the model: high where the model is unsure of itself.',
  validation: 'Labelled nodes that are kept to choose the epoch or the stage; the model is not trained on them.',
  test: 'Labelled nodes that are kept to measure the accuracy; nothing of the run depends on their labels.',
  ECE: 'Expected calibration error: the mean gap between stated probabilities and the truth.',
  shift: 'How much the labelled and pseudo-labelled nodes differ from all nodes that the model is used on.',
  'transition matrix': 'How often a node of one class gets the pseudo-label of another; it corrects the training.',
  epoch: 'One pass of the training of a network over its labels.',
  precision: 'Of the nodes that are flagged, the share that is of the class.',
  recall: 'Of the nodes of the class, the share that is flagged.',
  prior: 'The share of a class among all nodes that was stated for the run.',
};

// Each word of the list as it occurs in headings.
const FORMS = {
  ...Object.fromEntries(Object.keys(WORDS).map((word) => [word.toLowerCase(), word])),
  stages: 'stage',
  epochs: 'epoch',
  gain: 'information gain',
  'pseudo-labels': 'pseudo-label',
  'pseudo-labelled': 'pseudo-label',
};

export const meaning = (word) => WORDS[word];

// A word with its explanation beside the pointer, or beside the word where the keyboard or a finger is on it.
export function term(word, shown = word) {
  const onfocus = ({ target }) => {
    const { left, bottom } = target.getBoundingClientRect();
    showTooltip(left - 14, bottom - 8, WORDS[word]);
  };
  const onmousemove = ({ clientX, clientY }) => showTooltip(clientX, clientY, WORDS[word]);
  const events = { onfocus, onmousemove, onmouseleave: hideTooltip, onblur: hideTooltip };
  return el('span', { class: 'term', tabindex: 0, role: 'note', 'aria-description': WORDS[word], ...events }, shown);
}

const NAMED = new RegExp(
  `\\b(${Object.keys(FORMS).toSorted((first, second) => second.length - first.length).join('|')})\\b`,
  'i',
);

// Explains the first word of the glossary in each heading of a table, card or figure.
export function explainWords(root) {
  for (const place of root.querySelectorAll('dt, th, figcaption')) {
    const text = place.firstChild;
    if (place.closest('.glossary') || place.querySelector('.term') || text?.nodeType !== Node.TEXT_NODE) continue;
    const found = text.textContent.match(NAMED);
    if (!found) continue;
    const rest = text.splitText(found.index);
    rest.splitText(found[0].length);
    rest.replaceWith(term(FORMS[found[0].toLowerCase()], found[0]));
  }
}

export const glossary = () =>
  el(
    'dl',
    { class: 'glossary' },
    Object.entries(WORDS).map(([word, text]) => [el('dt', null, word), el('dd', null, text)]),
  );
