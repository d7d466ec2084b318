// The box beside the pointer.
import { byId } from './elements.js';

export function showTooltip(x, y, ...content) {
  const tooltip = byId('tooltip');
  tooltip.replaceChildren(...content.flat().filter(Boolean));
  tooltip.hidden = false;
  const box = tooltip.getBoundingClientRect();
  const fitsRight = x + 14 + box.width <= document.documentElement.clientWidth;
  const fitsBelow = y + 14 + box.height <= globalThis.innerHeight;
  tooltip.style.left = `${Math.max(4, fitsRight ? x + 14 : x - box.width - 10)}px`;
  tooltip.style.top = `${Math.max(4, fitsBelow ? y + 14 : y - box.height - 10)}px`;
}

export function hideTooltip() {
  byId('tooltip').hidden = true;
}

export const tooltipText = () => byId('tooltip').textContent;
