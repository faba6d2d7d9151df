import Glibc
import StrataTool

let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
exit(Tool.run(words.dropFirst().compactMap { $0.map { UnsafePointer($0) } }).rawValue)
