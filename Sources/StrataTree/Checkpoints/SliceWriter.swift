import StrataSystem

/// Writes pages to the file in slices.
///
/// In a hurry, the next slice is prepared and handed over while the disk takes one, and only then is the first awaited:
/// neither side idles, and the log finds at most two slices ahead of its own writes. Otherwise each slice is awaited
/// before the pause, so that the pause leaves the disk to the log.
struct SliceWriter {
    static let slicePages = 1_024

    let file: any File
    let time: any TimeSource
    let pace: @Sendable (CheckpointSlice) -> Void
    /// The part of the room for dirty pages that is taken.
    var roomTaken: () -> Double = { 0 }
    var isInHurry: () -> Bool = { true }

    /// - Parameters:
    ///   - numbers: in ascending order.
    ///   - isLast: true if no further write follows, so that the last slice need not pause.
    ///   - afterSlice: receives the pages of a slice once they can be read from the file. They may not have reached the
    ///     medium, which only a sync of the file ensures, and reports if it fails.
    ///   - fill: writes a page's bytes; the checksum is set by this method.
    func write(
        _ numbers: [PageNumber], isLast: Bool = true, afterSlice: (ArraySlice<PageNumber>) -> Void = { _ in },
        _ fill: (PageNumber, UnsafeMutableRawPointer) throws -> Void
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(1, min(numbers.count, Self.slicePages)) * PageLayout.pageBytes, alignment: 4_096)
        defer { buffer.deallocate() }
        var start = 0
        var pushed: Range<Int>?
        while start < numbers.count {
            let end = min(start + Self.slicePages, numbers.count)
            let written = try writeSlice(numbers[start..<end], buffer, fill)
            file.startWriteback(written)
            afterSlice(numbers[start..<end])
            var microseconds = finish(pushed)
            pushed = written
            if !isInHurry() {
                microseconds += finish(pushed)
                pushed = nil
            }
            let byteCount = (end - start) * PageLayout.pageBytes
            start = end
            guard start < numbers.count || !isLast else { continue }
            pace(CheckpointSlice(byteCount: byteCount, microseconds: microseconds, fill: roomTaken()))
        }
    }

    /// Waits until the disk has taken a range; returns the time that it took.
    private func finish(_ range: Range<Int>?) -> Int64 {
        guard let range else { return 0 }
        let began = time.nowMicroseconds()
        file.finishWriteback(range)
        return time.nowMicroseconds() - began
    }

    /// Returns the range of the file in which the pages are.
    private func writeSlice(
        _ numbers: ArraySlice<PageNumber>, _ buffer: UnsafeMutableRawBufferPointer,
        _ fill: (PageNumber, UnsafeMutableRawPointer) throws -> Void
    ) throws -> Range<Int> {
        guard let first = numbers.first, let last = numbers.last, let base = buffer.baseAddress else { return 0..<0 }
        var place = base
        for number in numbers {
            try fill(number, place)
            let sum = CRC32C.checksum(Page(UnsafeRawPointer(place)).bytes.dropping(PageLayout.number))
            PageEditor(place).set(checksum: sum)
            place += PageLayout.pageBytes
        }
        var runStart = numbers.startIndex
        for index in numbers.indices where index + 1 == numbers.endIndex || numbers[index + 1] != numbers[index] + 1 {
            let offset = (runStart - numbers.startIndex) * PageLayout.pageBytes
            let bytes = UnsafeRawBufferPointer(
                start: base + offset, count: (index + 1 - runStart) * PageLayout.pageBytes)
            try file.writeInPieces(bytes, at: Int(numbers[runStart]) * PageLayout.pageBytes)
            runStart = index + 1
        }
        return Int(first) * PageLayout.pageBytes..<(Int(last) + 1) * PageLayout.pageBytes
    }
}
