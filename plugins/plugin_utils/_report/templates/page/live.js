(function () {
  'use strict';
  var page = document.getElementById('verdict').dataset;
  var stale = document.getElementById('stale');
  var left = document.getElementById('left');
  function look() {
    var now = Date.now() / 1000;
    if (stale && stale.hidden && page.staleAfter && now > page.staleAfter) {
      stale.hidden = false;
      document.title = 'Out of date: ' + document.title;
    }
    if (left && page.end) {
      var seconds = Math.round(page.end - now);
      left.textContent = seconds <= 0 ? ' (finishing)' :
        ' (' + (seconds >= 120 ? Math.round(seconds / 60) + ' min' : seconds + ' s') + ' left)';
    }
  }
  look();
  setInterval(look, 1000);
}());
