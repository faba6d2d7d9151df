import Glibc

/// Why output cannot go on.
enum OutputError: Error, CustomStringConvertible {
    /// Whoever read it has gone. Not a failure: the command ends quietly.
    case closedPipe
    /// The operating system refuses, with this error number.
    case refused(Int32)

    var description: String {
        switch self {
        case .closedPipe: "nobody reads the output any more"
        case .refused(let number): "cannot write the output: \(String(cString: strerror(number)))"
        }
    }
}

/// The standard output, buffered. Writing never fails by itself: ``endLine()`` and ``flush()`` report what went wrong,
/// at once or, with ``defersErrors``, later.
///
/// The first line is handed on at once, unless ``holdsFirstLine``, so that a reader sees that the command has begun.
/// The rest goes in large pieces.
final class Output {
    private static let capacity = 64 << 10

    private var descriptor: Int32
    /// Whether colours are understood where it goes.
    var isColored = false
    /// Columns of the terminal where it is read; nil if it goes elsewhere.
    var columns: Int?
    /// Called before the first byte is handed on: gives the file to write to, or nil for the one that there is.
    var opensOnFirstByte: (() -> Int32?)?
    /// True to throw no errors, for a command that has more to do than print. The command resets it when that is done.
    var defersErrors = false
    /// True to buffer the first line with the others, so that a command can restart while its output is small.
    var holdsFirstLine = false
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private var count = 0
    private var hasWrittenLine = false
    private var failure: Int32 = 0
    /// How many bytes have been handed on.
    private var handedOnCount = 0
    /// How many bytes come once more that have been handed on.
    private var repeatedCount = 0

    /// True once anything has left the buffer.
    var hasHandedOn: Bool { handedOnCount > 0 }

    init(descriptor: Int32 = STDOUT_FILENO) { self.descriptor = descriptor }

    deinit { buffer.deallocate() }

    /// Hands on what is buffered, and has what comes go to another file.
    func redirect(to descriptor: Int32) {
        empty()
        opensOnFirstByte = nil
        self.descriptor = descriptor
    }

    /// Has everything be written once more, the same bytes: what was handed on is not handed on again.
    func startAgain() {
        count = 0
        repeatedCount = handedOnCount
    }

    func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    func write(_ text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    func write(_ byte: UInt8) {
        if count == Self.capacity { empty() }
        buffer[count] = byte
        count += 1
    }

    func write(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            if count == Self.capacity { empty() }
            let some = min(rest.count, Self.capacity - count)
            UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + some])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<some]))
            count += some
            rest = UnsafeRawBufferPointer(rebasing: rest[some...])
        }
    }

    /// Decimal digits, with zeros in front up to `width`.
    func write(decimal number: UInt64, width: Int = 1) {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var rest = number
            var start = 20
            while rest > 0 || start > 20 - width {
                start -= 1
                digits[start] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
                rest /= 10
            }
            write(UnsafeRawBufferPointer(rebasing: digits[start...]))
        }
    }

    /// All hexadecimal digits of a number.
    func write<Number: FixedWidthInteger & UnsignedInteger>(hexadecimal number: Number) {
        var shift = Number.bitWidth
        while shift > 0 {
            shift -= 4
            let digit = UInt8(truncatingIfNeeded: number >> Number(shift)) & 0xF
            write(digit < 10 ? 0x30 + digit : 0x57 + digit)
        }
    }

    func endLine() throws {
        write(UInt8(ascii: "\n"))
        if !hasWrittenLine, !holdsFirstLine {
            hasWrittenLine = true
            empty()
        }
        if failure != 0 { try reportFailure() }
    }

    /// Hands on what is buffered.
    func flush() throws {
        empty()
        if failure != 0 { try reportFailure() }
    }

    /// Hands on what is buffered, unless nobody listens any more.
    func flushToListener() throws {
        try flush()
        var request = pollfd(fd: descriptor, events: 0, revents: 0)
        if poll(&request, 1, 0) > 0 { throw OutputError.closedPipe }
    }

    private func reportFailure() throws {
        if defersErrors { return }
        throw failure == EPIPE ? OutputError.closedPipe : .refused(failure)
    }

    /// After a failure everything is dropped: the error is on its way.
    private func empty() {
        if count > 0, let opens = opensOnFirstByte {
            opensOnFirstByte = nil
            descriptor = opens() ?? descriptor
        }
        var start = min(count, repeatedCount)
        repeatedCount -= start
        while start < count && failure == 0 {
            let rest = UnsafeRawBufferPointer(rebasing: buffer[start..<count])
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written >= 0 {
                start += written
                handedOnCount += written
            } else if errno == EAGAIN {
                var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&request, 1, -1)
            } else if errno != EINTR {
                failure = errno
            }
        }
        count = 0
    }
}
