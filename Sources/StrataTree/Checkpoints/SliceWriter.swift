import StrataModel
import StrataSystem

/// Writes pages to the file slice by slice, each pushed out before the next, so that the log always finds the disk
/// nearly idle.
struct SliceWriter {
    static let slicePages = 1_024

    let file: any File
    let time: any TimeSource
    let pace: @Sendable (CheckpointSlice) -> Void
    /// How much of the room for pages that wait is taken.
    var roomTaken: () -> Double = { 0 }

    /// - Parameters:
    ///   - numbers: ascending.
    ///   - isLast: whether nothing follows for which the last slice would have to rest.
    ///   - afterSlice: gets the pages of a slice that has been handed to the disk.
    ///   - fill: writes a page's bytes; the checksum is set here.
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
