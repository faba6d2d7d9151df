extension ReportPage {
    func browser(of histories: ReportHistories) -> ReportMarkup {
        let note = content.note(of: histories)
        if histories.told.isEmpty { return "<p>\(note ?? "No record has changed.")</p>" }
        let missing: ReportMarkup = note.map { "<p class=\"card notice\" id=\"missing\">\($0)</p>" } ?? ""
        // For a search that finds nothing.
        let extent = content.extent(of: histories).map { "It has \($0)." } ?? ""
        return """
            <p>Search by names of records, types, zones and users, and by values.\
            <span class="noprint"> <kbd>/</kbd> begins a search, <kbd>↑</kbd> and <kbd>↓</kbd> choose a record, \
            <kbd>Enter</kbd> shows its history.</span></p>
            \(missing)
            <noscript><p class="card notice">Search needs JavaScript; \
            <code>strata history STORE RECORD</code> prints the history of a record.</p></noscript>
            <div class="browser" id="browser" data-extent="\(extent)" hidden>
            <div class="finder">
            <label for="search">Search histories</label>
            <input id="search" type="search" role="combobox" aria-expanded="true" aria-controls="results" \
            aria-autocomplete="list" autocomplete="off" spellcheck="false">
            <div class="row"><label for="order">Order</label><select id="order"><option value="changed">most changed\
            </option><option value="latest">changed last</option><option value="name">by name</option></select>\
            <p class="faint" id="found" role="status"></p></div>
            <ul class="results" id="results" role="listbox" aria-label="Records"></ul>
            </div>
            <article class="card history unchosen" id="history" tabindex="-1" aria-label="History of a record">\
            <p class="faint">Choose a record to see what each of its versions changed.</p></article>
            </div>
            """
    }
}
