// The bench as Python wrote it.
import { byId } from '../lib/elements.js';

const json = JSON.parse(byId('data').textContent);
export const recipes = json.classes;
export const places = json.places; // [data set, labels per class]
export const cells = json.cells; // {dataset, labels, recipe, mean, interval, values}
export const wins = json.wins; // {place, share, count}
export const accuracyTable = json.table;
export const bestRuns = json.best;
export const datasets = [...new Set(places.map(([dataset]) => dataset))];
