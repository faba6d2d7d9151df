import StrataModel
import StrataSystem

/// The file of a page store: pages by number, mapped for reading and written by file writes.
// @unchecked: the map's base never changes, and only the thread that checkpoints writes.
final class PageFile: @unchecked Sendable {
    let file: any File
    /// The address of page 0; never moves. Nil if the file is not mapped.
    let base: UnsafeRawPointer?
    /// The maximum number of pages; fewer than requested if address space is scarce.
    let capacity: Int
    var guarded: MapGuard? { map?.guarded }
    /// Nil if pages are read instead of mapped.
    private let map: (any GrowingMap)?
    /// The slot that keeps pages from being reused, for a process that only reads.
    private let lease: ReaderSlot?
    var path: String { file.path }

    /// - Parameter capacity: the maximum number of pages of the file.
    init(_ file: any File, capacity: Int, access: PageAccess, lease: ReaderSlot? = nil) throws {
        self.file = file
        self.lease = lease
        switch access {
        case .map: map = try file.mapGrowing(reserving: capacity * PageLayout.pageBytes)
        case .read: map = nil
        }
        base = map?.base
        self.capacity = min(capacity, map.map { $0.reservedBytes / PageLayout.pageBytes } ?? capacity)
        try mapAll()
    }

    /// Drops mapped pages from memory until they are read again.
    func release() { map?.release() }

    /// Maps the whole file at its current size.
    func mapAll() throws {
        guard let map else { return }
        let pages = min(try file.size() / PageLayout.pageBytes, capacity)
        if pages > 0 { try map.extend(to: pages * PageLayout.pageBytes) }
    }

    /// The address of a page in the map; the page is not validated.
    func load(_ number: PageNumber) throws -> UnsafeRawPointer {
        let place = Int(number) * PageLayout.pageBytes
        guard let map, let base, number >= ViewFormat.headerSlots, place + PageLayout.pageBytes <= map.byteCount else {
            throw missing(number)
        }
        return base + place
    }

    /// Copies a page to `target` from the file; the page is not validated.
    func read(_ number: PageNumber, into target: UnsafeMutableRawPointer) throws {
        let buffer = UnsafeMutableRawBufferPointer(start: target, count: PageLayout.pageBytes)
        let count = try file.read(into: buffer, at: Int(number) * PageLayout.pageBytes)
        guard number >= ViewFormat.headerSlots, count == PageLayout.pageBytes else { throw missing(number) }
    }

    private func missing(_ number: PageNumber) -> StrataError {
        StrataError(
            .malformed, "A page number refers to a page that does not exist.",
            .init(page: number, path: path, found: "\(number)"))
    }

    // MARK: Growing

    /// The growth step in pages, larger than requested, so that the file seldom grows.
    private static let stepPages = 256

    /// Extends the file to at least this length, with allocated space, and maps it.
    func extend(toPages count: Int) throws {
        let pages = try file.size() / PageLayout.pageBytes
        if let map, pages * PageLayout.pageBytes < map.byteCount {
            throw PageMemory.unreadable(PageNumber(pages), path)
        }
        if pages < count {
            let step = max(Self.stepPages, pages / 16 / Self.stepPages * Self.stepPages)
            let generous = (count + step - 1) / step * step
            do { try allocate(pages..<generous) } catch let error as StrataError where error.code == .noSpace {
                try allocate(pages..<count)
            }
        }
        try mapAll()
    }

    private func allocate(_ pages: Range<Int>) throws {
        try file.allocate(pages.lowerBound * PageLayout.pageBytes..<pages.upperBound * PageLayout.pageBytes)
    }

    // MARK: Headers and records

    func readSlot(_ index: Int) throws -> [UInt8] {
        try file.read(count: PageLayout.pageBytes, at: index * PageLayout.pageBytes)
    }

    func write(_ bytes: [UInt8], toSlot index: Int) throws {
        try file.write(bytes, at: index * PageLayout.pageBytes)
    }

    /// The bytes of a record, all of whose pages are validated.
    func readRecord(_ place: RecordPlace, epoch: UInt64) throws -> [UInt8] {
        let pages = place.usedPages
        let raw = try file.read(
            count: pages.count * PageLayout.pageBytes, at: Int(place.run.first) * PageLayout.pageBytes)
        guard raw.count == pages.count * PageLayout.pageBytes else {
            throw StrataError(.malformed, "The page file ends inside a record.", .init(path: path))
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.count)
        try raw.withUnsafeBytes { raw in
            for (index, number) in pages.enumerated() {
                let part = raw.dropping(index * PageLayout.pageBytes).keeping(PageLayout.pageBytes)
                let page = Page(part)
                try PageCheck.check(page, number: number)
                guard page.kind == .record, page.birth == epoch else {
                    throw StrataError(
                        .malformed, "A page of a checkpoint's record has another kind or epoch.",
                        .init(path: path, found: "page \(number)"))
                }
                bytes += part.dropping(PageLayout.headerBytes)
            }
        }
        bytes.removeLast(bytes.count - place.byteCount)
        let sum = bytes.withUnsafeBytes { CRC32C.checksum($0) }
        guard sum == place.checksum else {
            throw StrataError(.badChecksum, "A checkpoint's record does not match its checksum.", .init(path: path))
        }
        return bytes
    }
}
