(function () {
  'use strict';
  function hints() {
    Array.prototype.forEach.call(document.querySelectorAll('.scroll'), function (part) {
      if (!part.clientWidth) { return; }
      part.classList.toggle('wider', part.scrollWidth > part.clientWidth + 1);
    });
  }
  window.addEventListener('resize', hints);
  document.addEventListener('toggle', hints, true);
  hints();
  var form = document.getElementById('filter');
  var table = document.querySelector('table.matrix');
  if (!form || !table) { return; }
  var body = table.tBodies[0];
  var headers = Array.prototype.slice.call(table.tHead.rows[0].cells);
  var name = document.getElementById('filter-text');
  var shown = document.getElementById('filter-shown');
  var boxes = Array.prototype.slice.call(form.querySelectorAll('input[type=checkbox]'));
  var selects = Array.prototype.slice.call(form.querySelectorAll('select'));
  var ranks = boxes.map(function (box) { return box.value; });
  var units = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, min: 6e10, h: 3.6e12, '\u00d7': 100 };
  var sorted = { column: -1, descending: false };
  var rows = Array.prototype.map.call(body.rows, function (row, place) {
    var link = row.cells[0].querySelector('a');
    var label = row.cells[0].textContent.trim();
    var detail = link && document.getElementById(link.hash.slice(1));
    return { row: row, place: place, name: (row.cells[0].title || label).toLowerCase(), detail: detail };
  });
  var texts = headers.map(function (header) { return header.textContent.trim(); });

  function figure(cell) {
    var text = cell.firstChild ? cell.firstChild.textContent : '';
    var found = /([-+\u2212]?)([0-9][0-9.,]*) ?(\u00d7|(?:ns|us|ms|s|min|h)?\b)/.exec(text);
    if (!found) { return null; }
    var sign = found[1] === '-' || found[1] === '\u2212' ? -1 : 1;
    return parseFloat(found[2].replace(/,/g, '')) * (units[found[3]] || 1) * sign;
  }
  function key(item, column) {
    var cell = item.row.cells[column];
    if (column === 0) { return item.name; }
    if (cell.querySelector('.badge')) { return ranks.indexOf(item.row.dataset.verdict); }
    return headers[column].classList.contains('left') ? cell.textContent : figure(cell);
  }
  function compare(a, b) {
    if (a === b) { return 0; }
    if (a === null || b === null) { return a === null ? 1 : -1; }
    var order = typeof a === 'string' ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
    return sorted.descending ? -order : order;
  }
  function sort(column, descending) {
    sorted.column = column;
    sorted.descending = descending;
    var keys = rows.map(function (item) { return column < 0 ? item.place : key(item, column); });
    var order = rows.map(function (item, index) { return index; });
    order.sort(function (a, b) { return compare(keys[a], keys[b]) || rows[a].place - rows[b].place; });
    var fragment = document.createDocumentFragment();
    order.forEach(function (index) { fragment.appendChild(rows[index].row); });
    body.appendChild(fragment);
    headers.forEach(function (header, index) {
      if (index === column) {
        header.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      } else {
        header.removeAttribute('aria-sort');
      }
    });
  }
  function filter() {
    var wanted = name.value.trim().toLowerCase();
    var verdicts = {};
    var count = 0;
    boxes.forEach(function (box) { verdicts[box.value] = box.checked; });
    rows.forEach(function (item) {
      var named = verdicts[item.row.dataset.verdict] && item.name.indexOf(wanted) !== -1;
      var on = named && selects.every(function (select) {
        return !select.value || item.row.getAttribute('data-' + select.dataset.filter) === select.value;
      });
      item.row.hidden = !on;
      if (item.detail) { item.detail.hidden = !on; }
      count += on ? 1 : 0;
    });
    shown.textContent = count.toLocaleString('en') + ' of ' + rows.length.toLocaleString('en') + ' shown';
  }
  function remember() {
    var state = [];
    function add(label, value) { state.push(label + '=' + encodeURIComponent(value)); }
    if (name.value.trim()) { add('name', name.value.trim()); }
    selects.forEach(function (select) { if (select.value) { add(select.dataset.filter, select.value); } });
    if (boxes.some(function (box) { return !box.checked; })) {
      var checked = boxes.filter(function (box) { return box.checked; });
      add('verdict', checked.map(function (box) { return box.value; }).join(','));
    }
    if (sorted.column >= 0) { add('sort', (sorted.descending ? '-' : '') + sorted.column); }
    try { history.replaceState(null, '', state.length ? '#?' + state.join('&') : '#'); } catch (error) { return; }
  }
  function recall() {
    var state = {};
    location.hash.slice(2).split('&').forEach(function (part) {
      var cut = part.indexOf('=');
      try { state[part.slice(0, cut)] = decodeURIComponent(part.slice(cut + 1)); } catch (error) { return; }
    });
    name.value = state.name || '';
    selects.forEach(function (select) { select.value = state[select.dataset.filter] || ''; });
    boxes.forEach(function (box) {
      box.checked = state.verdict === undefined || state.verdict.split(',').indexOf(box.value) !== -1;
    });
    var column = Math.abs(parseInt(state.sort, 10));
    if (column < headers.length) { sort(column, state.sort.charAt(0) === '-'); }
  }
  function follow() {
    if (location.hash.slice(0, 2) === '#?') { recall(); filter(); return; }
    var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) { return; }
    target.hidden = false;
    for (var part = target; part; part = part.parentElement) { if (part.tagName === 'DETAILS') { part.open = true; } }
    target.scrollIntoView();
  }
  headers.forEach(function (header, column) {
    if (header.querySelector('svg')) { return; }
    var button = document.createElement('button');
    button.type = 'button';
    button.textContent = texts[column];
    button.addEventListener('click', function () {
      sort(column, sorted.column === column ? !sorted.descending : !header.classList.contains('left') && column > 0);
      remember();
    });
    header.textContent = '';
    header.appendChild(button);
  });
  var timer = 0;
  function apply() { filter(); remember(); }
  name.addEventListener('input', function () { clearTimeout(timer); timer = setTimeout(apply, 120); });
  boxes.concat(selects).forEach(function (control) { control.addEventListener('change', apply); });
  form.addEventListener('submit', function (event) { event.preventDefault(); });
  window.addEventListener('hashchange', follow);
  form.hidden = false;
  filter();
  follow();
}());
