Program.runProcess()
