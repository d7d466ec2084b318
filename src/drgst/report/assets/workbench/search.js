// Search for a node by its id.
import { announce, button, byId, el } from '../lib/elements.js';
import { run } from './data.js';
import { change, state } from './state.js';

const MATCHES = 12;

const notFound = () => run.totalNodes > run.nodeCount ? 'no node of the sample has this id' : 'no node has this id';

// The same id first, then the same in other case, then ids that begin with the text, then ids that contain it.
function matchesOf(text) {
  const wanted = text.trim(), folded = wanted.toLowerCase();
  if (!folded) return [];
  const ranked = [[], [], [], []];
  run.nodeIds.forEach((id, node) => {
    const foldedId = id.toLowerCase(), place = foldedId.indexOf(folded);
    if (place < 0) return;
    const rank = id === wanted ? 0 : foldedId === folded ? 1 : place === 0 ? 2 : 3;
    ranked[rank].push(node);
  });
  return ranked.flat().slice(0, MATCHES);
}

export function startSearch() {
  const form = byId('search'), field = byId('find'), list = byId('matches');
  const open = (node) => {
    list.hidden = true;
    field.value = '';
    field.blur();
    change(state.view === 'label' ? { asked: node } : { view: 'map', node });
  };
  field.addEventListener('input', () => {
    const matches = matchesOf(field.value);
    const entries = matches.map((node) => el('li', null, button(run.nodeIds[node], () => open(node))));
    list.replaceChildren(...(entries.length ? entries : [el('li', { class: 'empty' }, notFound())]));
    list.hidden = !field.value.trim();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const [first] = matchesOf(field.value);
    if (first === undefined) announce(notFound());
    else open(first);
  });
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    list.hidden = true;
    field.blur();
  });
  document.addEventListener('click', (event) => {
    if (!form.contains(event.target)) list.hidden = true;
  });
}
