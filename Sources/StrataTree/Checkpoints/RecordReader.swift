import StrataModel

/// Decodes a checkpoint record. Its checksum is known to match; its content is validated nevertheless.
struct RecordReader {
    private let bytes: UnsafeRawBufferPointer
    private(set) var reader: ByteReader
    private let pageCount: Int

    /// `bytes` must outlive the reader.
    init(_ bytes: UnsafeRawBufferPointer, pageCount: Int) {
        self.bytes = bytes
        reader = ByteReader(bytes)
        self.pageCount = pageCount
    }

    private mutating func readCount(_ what: StaticString, elementBytes: Int) throws -> Int {
        let count = Int(try reader.read(UInt32.self, what))
        guard count <= reader.remaining / elementBytes else {
            throw reader.malformed(what, expected: "at most as many as the remaining bytes can hold", found: "\(count)")
        }
        return count
    }

    /// The bytes of a whole list, so that a long list is not read number by number.
    private mutating func readList(_ what: StaticString, elementBytes: Int) throws -> UnsafeRawBufferPointer {
        let count = try readCount(what, elementBytes: elementBytes)
        return UnsafeRawBufferPointer(
            rebasing: bytes[try reader.readRange(count: UInt64(count * elementBytes), what)])
    }

    /// Skips both lists of runs.
    mutating func skipRuns() throws {
        _ = try readList("free runs", elementBytes: ViewFormat.runBytes)
        for _ in 0..<(try readCount("retired runs", elementBytes: ViewFormat.retiredListBytes)) {
            let list = try readRetiredHead()
            _ = try reader.readRange(count: UInt64(list.byteCount), "retired runs")
        }
    }

    private mutating func readRun(_ what: StaticString) throws -> PageRun {
        let run = try reader.readRange(count: UInt64(ViewFormat.runBytes), what)
        return try self.run(at: run.lowerBound, of: bytes, what)
    }

    @inline(__always)
    private func run(at place: Int, of bytes: UnsafeRawBufferPointer, _ what: StaticString) throws -> PageRun {
        let run = PageRun(
            first: Bytes.load(UInt32.self, bytes, at: place), count: Int(Bytes.load(UInt32.self, bytes, at: place + 4)))
        guard run.count > 0, run.first >= ViewFormat.headerSlots, Int(run.first) + run.count <= pageCount else {
            throw reader.malformed(what, expected: "pages of the file", found: "\(run.first) + \(run.count)")
        }
        return run
    }

    mutating func readRoots() throws -> TreeRoots {
        var roots = TreeRoots()
        for _ in 0..<(try readCount("trees", elementBytes: ViewFormat.treeBytes)) {
            let id = TreeID(rawValue: try reader.read(UInt16.self, "tree"))
            let level = Int(try reader.read(UInt16.self, "level"))
            let root = TreeRoot(
                page: try reader.read(UInt32.self, "root"), level: level,
                entryCount: try reader.read(UInt64.self, "entries"),
                foldedOffset: try reader.read(UInt64.self, "offset"))
            guard root.page != 1, Int(root.page) < pageCount, level <= ViewFormat.maximumLevel,
                roots.ids.last.map({ $0 < id }) ?? true
            else { throw reader.malformed("root", expected: "a page of the file, in order of trees") }
            roots[id] = root
        }
        return roots
    }

    mutating func readFree() throws -> PageSet {
        let list = try readList("free runs", elementBytes: ViewFormat.runBytes)
        var pages = PageSet()
        var end: PageNumber = 0
        for place in stride(from: 0, to: list.count, by: ViewFormat.runBytes) {
            let run = try run(at: place, of: list, "free run")
            guard end < run.first else {
                throw reader.malformed("free run", expected: "after the previous run, with a gap")
            }
            end = run.range.upperBound
            pages.insert(run.range)
        }
        return pages
    }

    private struct RetiredHead {
        var birth: UInt64
        var end: UInt64
        var singles: Int
        var longer: Int
        var byteCount: Int { singles * ViewFormat.singleBytes + longer * ViewFormat.runBytes }
    }

    private mutating func readRetiredHead() throws -> RetiredHead {
        let head = RetiredHead(
            birth: try reader.read(UInt64.self, "birth"), end: try reader.read(UInt64.self, "end"),
            singles: Int(try reader.read(UInt32.self, "retired pages")),
            longer: Int(try reader.read(UInt32.self, "retired runs")))
        guard head.birth < (head.end == 0 ? UInt64.max : head.end) else {
            throw reader.malformed("retired runs", expected: "retired after their birth")
        }
        return head
    }

    mutating func readRetired() throws -> [RetiredList] {
        var lists: [RetiredList] = []
        for _ in 0..<(try readCount("retired runs", elementBytes: ViewFormat.retiredListBytes)) {
            let head = try readRetiredHead()
            let bytes = UnsafeRawBufferPointer(
                rebasing: bytes[try reader.readRange(count: UInt64(head.byteCount), "retired runs")])
            var runs = RunList()
            runs.reserve(singles: head.singles, longer: head.longer)
            let pages = PageNumber(ViewFormat.headerSlots)..<PageNumber(pageCount)
            let longerStart = head.singles * ViewFormat.singleBytes
            for place in stride(from: 0, to: longerStart, by: ViewFormat.singleBytes) {
                let number = Bytes.load(UInt32.self, bytes, at: place)
                guard pages.contains(number) else {
                    throw reader.malformed("retired page", expected: "a page of the file", found: "\(number)")
                }
                runs.append(PageRun(first: number, count: 1))
            }
            for place in stride(from: longerStart, to: bytes.count, by: ViewFormat.runBytes) {
                let run = try run(at: place, of: bytes, "retired run")
                guard run.count > 1 else { throw reader.malformed("retired run", expected: "more than one page") }
                runs.append(run)
            }
            lists.append(RetiredList(birth: head.birth, end: head.end, runs: runs))
        }
        return lists
    }

    mutating func readKept() throws -> [KeptRecord] {
        var kept: [KeptRecord] = []
        for _ in 0..<(try readCount("kept checkpoints", elementBytes: ViewFormat.keptBytes)) {
            let epoch = try reader.read(UInt64.self, "epoch")
            let position = Position(
                offset: try reader.read(UInt64.self, "offset"), chain: try reader.read(UInt32.self, "chain value"))
            let place = RecordPlace(
                run: try readRun("record"), byteCount: Int(try reader.read(UInt32.self, "record")),
                checksum: try reader.read(UInt32.self, "record"))
            let pages = Int(try reader.read(UInt32.self, "page count"))
            guard place.isInside(pageCount: pages), pages <= pageCount,
                kept.last.map({ $0.epoch <= epoch }) ?? true
            else { throw reader.malformed("kept checkpoint", expected: "inside the file, in order") }
            kept.append(
                KeptRecord(
                    epoch: epoch, position: position, record: place, pageCount: pages,
                    time: try reader.read(Int64.self, "time")))
        }
        return kept
    }

    mutating func readOpaque() throws -> [UInt8] {
        let count = try reader.read(UInt32.self, "opaque bytes")
        return [UInt8](bytes[try reader.readRange(count: UInt64(count), "opaque bytes")])
    }
}
