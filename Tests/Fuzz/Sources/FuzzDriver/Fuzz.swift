import CFuzzer
import Glibc

// Set once before libFuzzer starts, which calls back on the same thread; its callback has no room for a context.
nonisolated(unsafe) private var target: (UnsafeRawBufferPointer) -> Void = { _ in }

/// Runs `body` with one input after another, as libFuzzer's options on the command line say.
///
/// A trap, an address sanitizer's report or more than 2 GiB of memory is a finding; `body` handles what it throws.
package func fuzz(_ body: @escaping (UnsafeRawBufferPointer) -> Void) -> Never {
    target = body
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(
        LLVMFuzzerRunDriver(&count, &arguments) { start, count in
            target(UnsafeRawBufferPointer(start: start, count: count))
            return 0
        })
}
