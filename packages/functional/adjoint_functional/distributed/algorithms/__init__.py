"""What goes beyond single collectives: uneven inputs (`join`) and communication hooks of data parallel (`ddp_comm_hooks`)."""
