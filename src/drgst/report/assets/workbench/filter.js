// The bar that says which nodes are shown.
import { announce, byId } from '../lib/elements.js';
import { integer, percent } from '../lib/format.js';
import { isWrong, run } from './data.js';
import { setFilter, state, watch } from './state.js';

export function filteredNodes() {
  const nodes = [];
  for (let node = 0; node < run.nodeCount; node++) if (!state.filter || state.filter[node]) nodes.push(node);
  return nodes;
}

// Accuracy is said of nodes alone whose class is known and was hidden from the run.
function filterText() {
  const nodes = filteredNodes(), known = nodes.filter((node) => run.truth[node] >= 0);
  const right = known.filter((node) => !isWrong(state.stage, node)).length;
  const accuracy = known.length
    ? `; of ${integer(known.length)} whose class was hidden from the run, ${percent(right / known.length)} are right`
    : '';
  return `${integer(nodes.length)} ${nodes.length === 1 ? 'node' : 'nodes'}: ${state.filterName}${accuracy}`;
}

export function startFilter() {
  byId('filter-clear').addEventListener('click', () => setFilter(null));
  watch(['filter', 'stage'], () => {
    byId('filter-bar').hidden = !state.filter;
    if (!state.filter) return;
    byId('filter-text').textContent = filterText();
    announce(filterText());
  });
}
