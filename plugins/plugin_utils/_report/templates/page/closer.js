(function () {
  'use strict';
  var NS = 'http://www.w3.org/2000/svg';
  var PAINT = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'opacity',
    'fill-opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'paint-order', 'vector-effect'];
  var NEAR = 40;
  var OVER_COLUMN = 9;
  var shown = null, shownMark = null;
  function all(selector, inside) { return Array.prototype.slice.call((inside || document).querySelectorAll(selector)); }
  function made(name, text) {
    var part = document.createElement(name);
    part.textContent = text || '';
    return part;
  }

  // Values of marks: data-v has a text for each absolute point of a path, data-c has the columns of a heat map.
  var tip = document.body.appendChild(made('div'));
  var ring = document.body.appendChild(made('div'));
  tip.className = 'tip';
  tip.setAttribute('role', 'status');
  ring.className = 'ring';
  function hide() {
    tip.style.display = ring.style.display = 'none';
    tip.textContent = '';
    shown = null;
  }
  function points(path) {
    var subject = path.getAttribute('data-n');
    var texts = [];
    path.getAttribute('data-v').split('|').forEach(function (text) {
      var many = /^(\d+)\*(.*)$/.exec(text);
      for (var left = many ? +many[1] : 1; left > 0; left -= 1) { texts.push(many ? many[2] : text); }
    });
    return (path.getAttribute('d').match(/[ML]-?[\d.]+ -?[\d.]+/g) || []).map(function (point, place) {
      var parts = point.slice(1).split(' ');
      return { x: +parts[0], y: +parts[1], text: (subject ? subject + ', ' : '') + texts[place] };
    });
  }
  function columns(heat) {
    var parts = heat.getAttribute('data-c').split('|').map(function (part) { return part.split(';'); });
    var first = +parts[0][0], width = +parts[0][1], stretch = +parts[0][2], end = +parts[0][3];
    var bounds = parts[1];
    return parts.slice(2).map(function (values, place) {
      var from = place * stretch, to = Math.min(end, from + stretch);
      var several = to - from > 1;
      var counts = [];
      values.slice(2).forEach(function (count, row) {
        if (count) {
          counts.push((+count).toLocaleString('en') + (row < bounds.length ? ' up to ' : ' above ') +
            bounds[Math.min(row, bounds.length - 1)]);
        }
      });
      return {
        x: first + (from + to) / 2 * width, y: null,
        text: (several ? 'Seconds ' + (from + 1) + ' to ' + to : 'Second ' + to) + ': ' +
          (values[0] ? (several ? 'highest p99 ' : 'p99 ') + values[0] + ', max ' + values[1] : 'nothing completed') +
          (counts.length ? '; ' + parts[0][4] + 's: ' + counts.join(', ') : '')
      };
    });
  }
  function marks(svg) {
    if (!svg.marks) {
      svg.marks = all('[data-c]', svg).map(columns).concat(all('[data-v]', svg).map(points))
        .reduce(function (found, some) { return found.concat(some); }, [])
        .sort(function (a, b) { return a.x - b.x || a.y - b.y; });
      var title = svg.querySelector('title');
      if (!svg.marks.length && !title && svg.getAttribute('aria-label')) {
        drawn('title', {}, svg).textContent = svg.getAttribute('aria-label');
      } else if (svg.marks.length && title) {
        svg.setAttribute('aria-label', title.textContent);
        title.remove(); // or the browser would show it over the value
      }
    }
    return svg.marks;
  }
  function at(svg, mark) {
    var box = svg.getBoundingClientRect();
    var point = new DOMPoint(mark.x, mark.y || 0).matrixTransform(svg.getScreenCTM());
    return { x: point.x, y: mark.y === null ? box.top + box.height / 2 : point.y };
  }
  function nearest(svg, x, y) {
    var best = null, least = Infinity;
    marks(svg).forEach(function (mark) {
      var place = at(svg, mark);
      var aside = Math.abs(place.x - x);
      var far = mark.y === null ? OVER_COLUMN + aside / NEAR : Math.sqrt(aside * aside + Math.pow(place.y - y, 2));
      if (far < least) { least = far; best = mark; }
    });
    return least <= NEAR ? best : null;
  }
  function show(svg, mark) {
    var place = at(svg, mark), box = svg.getBoundingClientRect();
    var tall = mark.y === null;
    shown = svg;
    shownMark = mark;
    if (tip.textContent !== mark.text) { tip.textContent = mark.text; }
    tip.style.display = ring.style.display = 'block';
    ring.style.width = tall ? '0' : '12px';
    ring.style.height = tall ? box.height + 'px' : '12px';
    ring.style.left = place.x - (tall ? 1 : 8) + 'px';
    ring.style.top = (tall ? box.top : place.y - 8) + 'px';
    tip.style.left = Math.max(4, Math.min(place.x + 12, innerWidth - tip.offsetWidth - 8)) + 'px';
    var above = (tall ? box.top : place.y) - tip.offsetHeight - 12;
    tip.style.top = (above > 4 ? above : (tall ? box.bottom : place.y) + 12) + 'px';
  }
  function picture(part) {
    if (!part || !part.closest) { return null; }
    return part.closest('svg') || (part.localName === 'summary' ? part.querySelector('svg.chart') : null);
  }
  document.addEventListener('mousemove', function (event) {
    var svg = event.target.closest && event.target.closest('svg');
    var mark = svg && nearest(svg, event.clientX, event.clientY);
    if (mark) { show(svg, mark); } else if (shown && !shown.contains(document.activeElement)) { hide(); }
  });
  document.addEventListener('keydown', function (event) {
    var svg = picture(event.target);
    if (!svg || event.ctrlKey || event.altKey || event.metaKey || !marks(svg).length) { return; }
    var last = marks(svg).length - 1, place = svg.place === undefined ? -1 : svg.place;
    var wanted = { ArrowRight: Math.min(last, place + 1), ArrowLeft: Math.max(0, place - 1), Home: 0, End: last };
    if (event.key === 'Escape') { hide(); }
    if (wanted[event.key] === undefined) { return; }
    event.preventDefault();
    svg.place = wanted[event.key];
    show(svg, marks(svg)[svg.place]);
  });
  document.addEventListener('focusout', hide);
  window.addEventListener('scroll', function () {
    // Focusing a chart scrolls to it, and this event may follow the first key.
    if (shown && picture(document.activeElement) === shown) { show(shown, shownMark); } else { hide(); }
  }, true);
  all('[data-v], [data-c]').forEach(function (part) {
    var svg = part.closest('svg');
    var focused = svg.closest('summary') || svg;
    if (focused === svg) { svg.setAttribute('tabindex', '0'); }
    focused.setAttribute('aria-keyshortcuts', 'ArrowLeft ArrowRight Home End');
  });

  // The ticket text, and a picture of each chart that says where it comes from.
  var ticket = document.getElementById('ticket');
  function copied(text) {
    var area = document.body.appendChild(document.createElement('textarea'));
    area.value = text;
    area.select();
    var done = document.execCommand('copy');
    area.remove();
    return done;
  }
  if (ticket) {
    var heading = document.getElementById('causes') || document.getElementById('hosts');
    var copy = made('button', 'Copy the text for a ticket');
    heading.parentElement.insertBefore(copy, heading);
    copy.type = 'button';
    copy.className = 'copy';
    copy.addEventListener('click', function () {
      var done = function () { copy.textContent = 'Copied'; };
      var failed = function () { copy.textContent = copied(ticket.textContent) ? 'Copied' : 'Not copied: use report.md'; };
      if (navigator.clipboard) { navigator.clipboard.writeText(ticket.textContent).then(done, failed); } else { failed(); }
      copy.focus();
    });
  }
  function drawn(name, values, inside) {
    var part = document.createElementNS(NS, name);
    Object.keys(values).forEach(function (key) { part.setAttribute(key, values[key]); });
    return inside.appendChild(part);
  }
  function text(words, x, y, size, colour, inside) {
    drawn('text', { x: x, y: y, 'font-size': size, fill: colour, 'font-family': 'sans-serif' }, inside).textContent = words;
  }
  function copyPicture(svg, box, inside) {
    var own = svg.getBoundingClientRect(), copy = svg.cloneNode(true);
    var place = { x: own.left - box.left, y: own.top - box.top, width: own.width, height: own.height };
    var parts = all('*', copy);
    drawn('rect', Object.assign({ fill: getComputedStyle(svg).backgroundColor }, place), inside);
    all('*', svg).forEach(function (part, number) {
      var style = getComputedStyle(part);
      PAINT.forEach(function (name) { parts[number].setAttribute(name, style.getPropertyValue(name)); });
      ['class', 'data-v', 'data-n', 'data-c'].forEach(function (name) { parts[number].removeAttribute(name); });
    });
    Object.keys(place).forEach(function (name) { copy.setAttribute(name, place[name]); });
    copy.removeAttribute('class');
    inside.appendChild(copy);
  }
  function copyTexts(part, box, inside) {
    var walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT), node, range = document.createRange();
    while ((node = walker.nextNode())) {
      var parent = node.parentElement, line = null, word, pattern = /\S+/g;
      if (parent.closest('svg, button') || !parent.getClientRects().length) { continue; }
      var style = getComputedStyle(parent), size = parseFloat(style.fontSize), lines = [];
      while ((word = pattern.exec(node.data))) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        var own = range.getBoundingClientRect();
        if (!line || Math.abs(line.y - own.bottom) > 2) { lines.push(line = { x: own.left, y: own.bottom, words: [] }); }
        line.words.push(word[0]);
      }
      for (var number = 0; number < lines.length; number += 1) {
        text(lines[number].words.join(' '), lines[number].x - box.left, lines[number].y - box.top - size / 4, size,
          style.color, inside);
      }
    }
  }
  function origin(part) {
    var host = part.closest('details.host');
    var words = host ? [host.querySelector('summary strong').textContent] : [];
    return words.concat(ticket ? ['run ' + ticket.dataset.run, ticket.dataset.date] : []).filter(Boolean);
  }
  function save(part) {
    var box = part.getBoundingClientRect(), height = box.height + 24;
    var card = getComputedStyle(part.closest('section, header') || document.body);
    var whole = document.createElementNS(NS, 'svg');
    var size = { xmlns: NS, width: box.width, height: height, viewBox: '0 0 ' + box.width + ' ' + height };
    Object.keys(size).forEach(function (name) { whole.setAttribute(name, size[name]); });
    drawn('rect', { width: '100%', height: '100%', fill: card.backgroundColor }, whole);
    all('svg', part).forEach(function (svg) { copyPicture(svg, box, whole); });
    copyTexts(part, box, whole);
    text(origin(part).join(' \u00b7 '), 4, height - 8, 12, card.color, whole);
    var blob = new Blob([new XMLSerializer().serializeToString(whole)], { type: 'image/svg+xml' });
    var link = made('a');
    link.href = URL.createObjectURL(blob);
    link.download = origin(part).concat(part.className).join('-').replace(/[^A-Za-z0-9.-]+/g, '-').slice(0, 120) + '.svg';
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
  }
  all('figure, .fleet').forEach(function (part) {
    if (!part.querySelector('svg')) { return; }
    var button = made('button', 'Save as a picture'), caption = part.querySelector('figcaption') || part;
    caption.insertBefore(button, caption === part ? null : caption.firstChild);
    button.type = 'button';
    button.className = 'save';
    button.addEventListener('click', function () { save(part); });
  });
}());
