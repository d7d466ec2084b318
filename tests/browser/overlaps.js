// What overlaps its neighbour on the page, or sticks out of its diagram.
() => {
    const found = [];
    const boxes = parent => [...parent.children].map(e => [e, e.getBoundingClientRect()])
        .filter(([e, b]) => b.width > 1 && b.height > 1 && !['absolute', 'sticky'].includes(getComputedStyle(e).position));
    for (const parent of document.querySelectorAll('body, main, header, header .row, nav, .bar, section, .cards, .tools, .explore, .pair, .many, .share, #story, #selection, .legend')) {
        const all = boxes(parent).filter(([e]) => !e.matches('.skip, .tip, .unseen, option'));
        all.forEach(([a, p], at) => all.slice(at + 1).forEach(([b, q]) => {
            const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left), high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
            if (wide > 1 && high > 1) found.push(`${a.tagName}#${a.id}.${a.className} and ${b.tagName}#${b.id}.${b.className} in ${parent.tagName}#${parent.id}`);
        }));
    }
    for (const svg of document.querySelectorAll('#reliability svg, #curves svg, #confidence svg, #shares svg')) {
        const box = svg.getBoundingClientRect();
        for (const text of svg.querySelectorAll('text')) {
            const t = text.getBoundingClientRect();
            if (t.right > box.right + 1 || t.left < box.left - 1) found.push(`${text.textContent} sticks out of its diagram`);
        }
    }
    return found;
}
