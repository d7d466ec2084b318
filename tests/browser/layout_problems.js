// What overlaps its neighbour on the page, sticks out of its diagram or is cut off by its box.
(() => {
  const CONTAINERS = 'main, header, nav, .stage-bar, .view, .cards, .tools, .pair, .many, .share, .panel, .legend, ' +
    '.class-line, .class-button, .buttons, .map-side';
  const DIAGRAMS = '#reliability svg, #curves svg, #curve svg, #shift svg';
  const TABLES = '#stage-table, #side, #node-stages, #node-neighbours, .stage-notes, .card, .controls, .share .name, ' +
    '.class-button .name, .status';
  const problems = [];
  const nameOf = (element) => `${element.tagName}#${element.id}.${element.className}`;

  const isInFlow = (element, box) =>
    box.width > 1 && box.height > 1 && !['absolute', 'sticky'].includes(getComputedStyle(element).position) &&
    !element.matches('.skip, .tooltip, .visually-hidden, option');
  for (const parent of document.querySelectorAll(CONTAINERS)) {
    const children = [...parent.children].map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ element, box }) => isInFlow(element, box));
    children.forEach((first, place) =>
      children.slice(place + 1).forEach((second) => {
        const width = Math.min(first.box.right, second.box.right) - Math.max(first.box.left, second.box.left);
        const height = Math.min(first.box.bottom, second.box.bottom) - Math.max(first.box.top, second.box.top);
        if (width > 1 && height > 1) {
          problems.push(`${nameOf(first.element)} overlaps ${nameOf(second.element)} in ${nameOf(parent)}`);
        }
      })
    );
  }
  for (const svg of document.querySelectorAll(DIAGRAMS)) {
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const { left, right } = text.getBoundingClientRect();
      if (right > box.right + 1 || left < box.left - 1) problems.push(`${text.textContent} sticks out of its diagram`);
    }
  }
  for (const box of document.querySelectorAll(TABLES)) {
    if (box.scrollWidth > box.clientWidth + 1) problems.push(`${nameOf(box)} is cut off`);
  }
  return problems;
})();
