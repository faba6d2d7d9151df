import StrataModel
import StrataSystem

/// Writes pages to the file in slices and flushes each before the next, so that the log finds the disk nearly idle.
struct SliceWriter {
    static let slicePages = 1_024

    let file: any File
    let time: any TimeSource
    let pace: @Sendable (CheckpointSlice) -> Void
    /// The part of the room for dirty pages that is taken.
    var roomTaken: () -> Double = { 0 }

    /// - Parameters:
    ///   - numbers: in ascending order.
    ///   - isLast: true if no further write follows, so that the last slice need not pause.
    ///   - afterSlice: receives the pages of a slice after it has been handed to the disk.
    ///   - fill: writes a page's bytes; the checksum is set by this method.
    func write(
        _ numbers: [PageNumber], isLast: Bool = true, afterSlice: (ArraySlice<PageNumber>) -> Void = { _ in },
        _ fill: (PageNumber, UnsafeMutableRawPointer) throws -> Void
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(1, min(numbers.count, Self.slicePages)) * PageLayout.pageBytes, alignment: 4_096)
        defer { buffer.deallocate() }
        var start = 0
        while start < numbers.count {
            let end = min(start + Self.slicePages, numbers.count)
            let began = time.nowMicroseconds()
            try writeSlice(numbers[start..<end], buffer, fill)
            let microseconds = time.nowMicroseconds() - began
            let byteCount = (end - start) * PageLayout.pageBytes
            afterSlice(numbers[start..<end])
            start = end
            guard start < numbers.count || !isLast else { continue }
            pace(CheckpointSlice(byteCount: byteCount, microseconds: microseconds, fill: roomTaken()))
        }
    }

    private func writeSlice(
        _ numbers: ArraySlice<PageNumber>, _ buffer: UnsafeMutableRawBufferPointer,
        _ fill: (PageNumber, UnsafeMutableRawPointer) throws -> Void
    ) throws {
        guard let first = numbers.first, let last = numbers.last, let base = buffer.baseAddress else { return }
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
            try file.write(bytes, at: Int(numbers[runStart]) * PageLayout.pageBytes)
            runStart = index + 1
        }
        file.finishWriteback(Int(first) * PageLayout.pageBytes..<(Int(last) + 1) * PageLayout.pageBytes)
    }
}
