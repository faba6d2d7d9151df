import Glibc
import StrataTool

exit(Tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
