import StrataModel

/// A walk over all pages of some trees that visits each page once.
struct PageWalk {
    /// The number of pages between two pulses.
    private static let pulsedPages = 1_024

    private let file: PageFile
    private var seen = PageSet()

    var count: Int { seen.count }

    init(_ file: PageFile) { self.file = file }

    mutating func errors(
        below root: TreeRoot, of checkpoint: Checkpoint, _ pulse: (Int) throws -> Void
    ) throws -> [StrataError] {
        guard root.page != 0 else { return [] }
        var errors: [StrataError] = []
        var waiting: [(number: PageNumber, level: Int?)] = [(root.page, root.level)]
        while let (number, level) = waiting.popLast() {
            guard !seen.contains(number) else { continue }
            seen.insert(number)
            if seen.count % Self.pulsedPages == 0 { try pulse(seen.count) }
            do {
                try read(number) { page in
                    try check(page, number: number, level: level, of: checkpoint)
                    try collect(page, level: level, of: checkpoint, into: &waiting)
                }
            } catch let error as StrataError where error.isOfPage { errors.append(error) }
        }
        return errors
    }

    private func read(_ number: PageNumber, _ body: (Page) throws -> Void) throws {
        try withUnsafeTemporaryAllocation(byteCount: PageLayout.pageBytes, alignment: 8) { bytes in
            // Never empty: a page has 4,096 bytes.
            let start = bytes.baseAddress!
            try file.read(number, into: start)
            try body(Page(UnsafeRawPointer(start)))
        }
    }

    /// - Parameter level: nil for a page of a long value.
    private func check(_ page: Page, number: PageNumber, level: Int?, of checkpoint: Checkpoint) throws {
        do { try PageCheck.check(page, number: number) } catch let error as StrataError {
            throw error.located(path: file.path)
        }
        let isInPlace = level.map { page.level == $0 && page.count > 0 } ?? (page.kind == .overflow)
        guard isInPlace else {
            throw malformed(
                number, "A tree refers to a page of another kind or level.",
                expected: level.map { "level \($0)" } ?? "a long value",
                found: "level \(page.level) of kind \(page.kind.map { "\($0)" } ?? "none")")
        }
        guard page.birth <= checkpoint.epoch else {
            throw malformed(
                number, "A page is newer than the checkpoint that refers to it.",
                expected: "at most epoch \(checkpoint.epoch)", found: "\(page.birth)")
        }
    }

    private func collect(
        _ page: Page, level: Int?, of checkpoint: Checkpoint, into waiting: inout [(number: PageNumber, level: Int?)]
    ) throws {
        guard let level else { return }
        for index in 0..<page.count {
            if level > 0 {
                waiting.append((page.child(index), level - 1))
            } else if case let value = page.storedValue(index), value.isOverflow {
                let run = OverflowReference(value.bytes).run
                guard Int(run.first) + run.count <= checkpoint.pageCount else {
                    throw malformed(
                        page.number, "A long value is stored after the end of the file.",
                        expected: "\(checkpoint.pageCount) pages", found: "\(run.first) + \(run.count)")
                }
                waiting += run.range.map { ($0, nil) }
            }
        }
    }

    private func malformed(
        _ number: PageNumber, _ message: StaticString, expected: String, found: String
    ) -> StrataError {
        StrataError(
            .malformed, message,
            .init(
                position: UInt64(number) * UInt64(PageLayout.pageBytes), page: number, path: file.path,
                expected: expected, found: found))
    }
}

extension StrataError {
    /// True if the page is damaged, false if accessing it failed.
    var isOfPage: Bool { code == .badChecksum || code == .malformed }
}
